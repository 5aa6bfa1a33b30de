import type { Arch, Os } from '../../catalog/artifacts.ts'
import type { AgentRelease } from '../../lifecycle/agents/agent-release.ts'
import { toFailure } from '../../kit/errors.ts'
import { joinNames } from '../../kit/text.ts'
import { connectAgents, type ConnectedAgents } from '../../lifecycle/agents/connected-agents.ts'
import { reportSingleStep, type StepResult } from '../../lifecycle/agents/event-stream.ts'
import type { Session } from '../../lifecycle/agents/session.ts'
import type { ClusterInputs } from '../../lifecycle/inputs/cluster-inputs.ts'
import type { HostToRemove } from '../../lifecycle/proposal/hosts-to-remove.ts'
import { buildSharedPlanData } from '../../plan/context.ts'
import { hostSchema, type HostSpec } from '../../spec/host.ts'
import { HostKeyStore } from '../../ssh/host-key-store.ts'
import type { Remote } from '../../ssh/remote.ts'
import { openClusterWeb } from '../../workspace/cluster-web.ts'
import type { ClusterFiles, WorkspaceContext } from '../../workspace/context.ts'
import { saveHostKeys } from '../../workspace/load-identity.ts'
import { createBundledFileReader } from '../../workspace/open-cluster-bundle.ts'
import { formatAcceptCommand, openSshConnector } from '../../workspace/ssh-connector.ts'
import { acceptHostKeys } from './accept-host-keys.ts'
import type { ActionRun } from './action-run.ts'
import { createDeferredAbort } from './deferred-abort.ts'

export interface ClusterConnection extends AsyncDisposable {
  readonly connected: ConnectedAgents
  readonly removedHosts: RemovedHostConnections
  /**
   * The inputs with the host keys of hosts that were connected for the first time, and with the current agent
   * versions.
   */
  readonly inputs: ClusterInputs
  /** Makes the command wait for hosts even after an interrupt. */
  readonly deferAbort: () => void
  /**
   * Signal for work in the cluster. After `deferAbort`, an interrupt does not abort it, so the work can clean
   * up.
   */
  readonly deferredSignal: AbortSignal
}

export interface ConnectClusterOptions {
  readonly files: ClusterFiles
  /** Hosts whose stored ssh host key is discarded. The key that the host presents now is stored instead. */
  readonly forgetHostKeys: readonly string[]
  /** Hosts that cluster.yml contained before this action. */
  readonly previousHosts?: readonly HostSpec[] | undefined
  /** Hosts that are removed without a connection, because an attacker may control them. */
  readonly untrustedHosts?: readonly string[] | undefined
  /** True to install no agents. Hosts without a running agent of this release count as unreachable. */
  readonly readOnly?: boolean
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

/** Connects to all hosts and installs their agents. */
export async function connectCluster(
  context: WorkspaceContext,
  loaded: ClusterInputs,
  { files, forgetHostKeys, previousHosts = [], untrustedHosts = [], readOnly }: ConnectClusterOptions,
  run: Pick<ActionRun, 'emit' | 'show' | 'confirm'>,
): Promise<ClusterConnection> {
  const { emit } = run
  const { cluster } = loaded
  const deferredAbort = createDeferredAbort(context.signal)
  const { signal } = deferredAbort
  const keys = new HostKeyStore(loaded.identity, forgetHostKeys)
  const connector = await openSshConnector(context.operator, files.file, cluster, keys)
  const remotes = new Set<Remote>()
  const connectedHosts = new Set<string>()
  const step = 'reach'
  const connect = async (host: HostSpec, connectSignal: AbortSignal): Promise<Remote> => {
    const subject = { host: host.name }
    const since = context.now().toISOString()
    emit({ type: 'waiting', for: 'an ssh connection', since }, subject)
    const remote = await connector.connect(host, connectSignal)
    remotes.add(remote)
    // Only the first connection to a host starts its connect step. Later connections replace lost ones while
    // other steps run.
    if (!connectedHosts.has(host.name)) emit({ type: 'step-started', step }, subject)
    connectedHosts.add(host.name)
    return remote
  }
  const close = async (): Promise<void> => {
    await Promise.allSettled([...remotes].map(async (remote) => remote.close()))
    connector.close()
    deferredAbort[Symbol.dispose]()
  }
  const release = memoizeRelease(async (arch, os) =>
    context.findRelease(arch, os, {
      artifacts: cluster.spec.artifacts,
      openRoute: async () => (await openClusterWeb(context, files, cluster)).route,
      signal,
    }),
  )
  const connectHosts = async (hosts: readonly HostSpec[]): Promise<ConnectedAgents> => {
    await acceptHostKeys(
      { connector, keys, acceptCommand: formatAcceptCommand(files.file), signal },
      hosts,
      run,
    )
    const names = hosts.map(({ name }) => name)
    return reportSingleStep(
      { emit, signal },
      { step, title: `connect to ${joinNames(names)}`, hosts: names },
      async () =>
        connectAgents(hosts, {
          connect,
          release,
          readBundledFile: createBundledFileReader(context, files.file, loaded),
          // Uses the pins of workers, because all Windows hosts are workers.
          setup: {
            ...buildSharedPlanData(loaded.lock.workers ?? loaded.lock),
            cluster,
            system: { os: 'windows', arch: 'amd64' },
          },
          emit,
          readOnly,
          onConnected: (host) => emit({ type: 'step-ended', step, result: { outcome: 'done' } }, { host }),
          signal,
        }),
      describeConnected,
    )
  }
  const removedSessions = new Map<string, Session>()
  const connectRemoved: RemovedHostConnections['connect'] = async (hostsToRemove) => {
    const trustedHosts = hostsToRemove.filter(({ host }) => !untrustedHosts.includes(host))
    if (trustedHosts.length === 0) return removedSessions
    const { sessions } = await connectHosts(
      trustedHosts.map((removedHost) => findHostSpec(removedHost, previousHosts)),
    )
    for (const [name, session] of sessions) removedSessions.set(name, session)
    return sessions
  }
  try {
    const connected = await connectHosts(cluster.spec.hosts)
    if (keys.changed) await saveHostKeys(context, files, keys.identity)
    const inputs = {
      ...loaded,
      identity: keys.identity,
      version: (host: string) => connected.agents.get(host) ?? '',
    }
    return {
      connected,
      removedHosts: { sessions: removedSessions, connect: connectRemoved },
      inputs,
      deferAbort: deferredAbort.defer,
      deferredSignal: signal,
      async [Symbol.asyncDispose]() {
        await connected.close()
        await Promise.allSettled([...removedSessions.values()].map(async (session) => session.close()))
        await close()
      },
    }
  } catch (error) {
    // If connecting fails, all connections must be closed, because open ones would keep the process alive.
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

/** Builds the result of connecting to the hosts. It is a failure only if every host is unreachable. */
function describeConnected({ sessions, unreachable }: ConnectedAgents): StepResult {
  const [error] = unreachable.values()
  return sessions.size > 0 || error === undefined
    ? { outcome: 'done' }
    : { outcome: 'failed', failure: toFailure(error) }
}

/** Loads each release once, because its digest is computed from a large file. A failure is not remembered. */
export function memoizeRelease<Rest extends readonly unknown[]>(
  release: (arch: Arch, os: Os, ...rest: Rest) => Promise<AgentRelease>,
): typeof release {
  const known = new Map<string, Promise<AgentRelease>>()
  return async (arch, os, ...rest) => {
    const kind = `${os}/${arch}`
    const found =
      known.get(kind) ??
      release(arch, os, ...rest).catch((error: unknown) => {
        known.delete(kind)
        throw error
      })
    known.set(kind, found)
    return found
  }
}
