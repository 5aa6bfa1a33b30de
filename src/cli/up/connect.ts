import { forgetHostKey } from '../../identity/host-key.ts'
import { type ConnectedAgents, connectAgents } from '../../lifecycle/connected-agents.ts'
import { HostKeyStore } from '../../lifecycle/host-key-store.ts'
import { buildSharedPlanData } from '../../plan/shared-data.ts'
import { reportSingleStep } from '../../lifecycle/event-stream.ts'
import type { ClusterInputs } from '../../lifecycle/cluster-inputs.ts'
import type { HostToRemove } from '../../lifecycle/hosts-to-remove.ts'
import type { Session } from '../../lifecycle/session.ts'
import { type HostSpec, hostSchema } from '../../spec/host.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { CommandContext, Invocation } from '../command.ts'
import { createBundledFileReader } from '../bundle/bundle-files.ts'
import { openSshConnector } from '../ssh-connector.ts'
import { saveHostKeys } from '../load-identity.ts'
import type { RunReporter } from '../run-with-progress.ts'
import { runFlags } from '../run-flags.ts'
import { joinNames } from '../format-text.ts'

export interface ClusterConnection extends AsyncDisposable {
  readonly connected: ConnectedAgents
  readonly removedHosts: RemovedHostConnections
  /**
   * The inputs with the host keys of hosts that were connected for the first time, and with the current agent
   * versions.
   */
  readonly inputs: ClusterInputs
}

/**
 * Connections to hosts that are removed from the cluster. These hosts are known only after the other hosts
 * were read.
 */
export interface RemovedHostConnections {
  readonly sessions: ReadonlyMap<string, Session>
  /** Connects to the hosts and returns the sessions of those that respond. */
  readonly connect: (hostsToRemove: readonly HostToRemove[]) => Promise<ReadonlyMap<string, Session>>
}

/**
 * Connects to all hosts and installs their agents. `previousHosts` are the hosts that cluster.yml contained
 * before this command.
 */
export async function connectCluster(
  context: CommandContext,
  options: Invocation['options'],
  loaded: ClusterInputs,
  { emit }: RunReporter,
  signal: AbortSignal,
  previousHosts: readonly HostSpec[] = [],
): Promise<ClusterConnection> {
  const { cluster } = loaded
  const { forgetHostKey: forgotten } = runFlags.parse(options)
  const keys = new HostKeyStore(forgotten.reduce(forgetHostKey, loaded.identity))
  const connector = await openSshConnector(context.operator, options.file, cluster, keys)
  const remotes = new Set<Remote>()
  const connectedHosts = new Set<string>()
  const step = 'reach'
  const connect = async (host: HostSpec, connectSignal: AbortSignal): Promise<Remote> => {
    const subject = { host: host.name }
    const since = context.now().toISOString()
    emit({ type: 'waiting', for: 'its ssh server to answer', since }, subject)
    const remote = await connector.connect(host, connectSignal)
    remotes.add(remote)
    // Only the first connection starts the host's step. A later one replaces a lost connection during another
    // step.
    if (!connectedHosts.has(host.name)) emit({ type: 'step-started', step }, subject)
    connectedHosts.add(host.name)
    return remote
  }
  const close = async (): Promise<void> => {
    await Promise.allSettled([...remotes].map(async (remote) => remote.close()))
    connector.close()
  }
  const release = memoizeRelease(context.findRelease)
  const connectHosts = async (hosts: readonly HostSpec[]): Promise<ConnectedAgents> => {
    const names = hosts.map(({ name }) => name)
    return reportSingleStep(
      { emit, signal },
      { step, title: `reach ${joinNames(names)}`, hosts: names },
      async () =>
        connectAgents(hosts, {
          connect,
          release,
          readBundledFile: createBundledFileReader(context, options.file, loaded),
          setup: { ...buildSharedPlanData(loaded.lock), cluster, system: { os: 'windows', arch: 'amd64' } },
          emit,
          onConnected: (host) => emit({ type: 'step-ended', step, result: { outcome: 'done' } }, { host }),
          signal,
        }),
    )
  }
  const removedSessions = new Map<string, Session>()
  const connectRemoved: RemovedHostConnections['connect'] = async (hostsToRemove) => {
    const { sessions } = await connectHosts(
      hostsToRemove.map((removedHost) => findHostSpec(removedHost, previousHosts)),
    )
    for (const [name, session] of sessions) removedSessions.set(name, session)
    return sessions
  }
  try {
    const connected = await connectHosts(cluster.spec.hosts)
    if (keys.changed) await saveHostKeys(context, options, keys.identity)
    const inputs = {
      ...loaded,
      identity: keys.identity,
      version: (host: string) => connected.agents.get(host) ?? '',
    }
    return {
      connected,
      removedHosts: { sessions: removedSessions, connect: connectRemoved },
      inputs,
      async [Symbol.asyncDispose]() {
        await connected.close()
        await Promise.allSettled([...removedSessions.values()].map(async (session) => session.close()))
        await close()
      },
    }
  } catch (error) {
    // Open connections would keep the process alive after a failed start.
    await close()
    throw error
  }
}

/** Returns the host from the previous cluster.yml, or a host with the address that the cluster reports. */
function findHostSpec(
  { host: name, address, os }: HostToRemove,
  previousHosts: readonly HostSpec[],
): HostSpec {
  return (
    previousHosts.find((one) => one.name === name) ??
    hostSchema.parse({ name, address, os, roles: ['worker'] })
  )
}

/** Loads each release once, because its digest is computed from a large file. */
function memoizeRelease(release: CommandContext['findRelease']): CommandContext['findRelease'] {
  const known = new Map<string, ReturnType<CommandContext['findRelease']>>()
  return async (arch, os) => {
    const kind = `${os}/${arch}`
    const found = known.get(kind) ?? release(arch, os)
    known.set(kind, found)
    return found
  }
}
