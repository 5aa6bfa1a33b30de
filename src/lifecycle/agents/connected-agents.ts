import type { Arch, Os } from '../../catalog/artifacts.ts'
import type { EtcdRestoreProgress } from '../../contract/etcd-restore.ts'
import { buildWindowsPaths } from '../../contract/host-paths.ts'
import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import { mapWithConcurrency } from '../../kit/concurrency.ts'
import { formatError, hasCode, HyperkubeError } from '../../kit/errors.ts'
import type { RunnerContext } from '../../plan/windows/service.ts'
import type { HostSpec } from '../../spec/host.ts'
import type { Remote } from '../../ssh/remote.ts'
import { confirmAgent, installAgent } from './agent-install.ts'
import type { AgentRelease, ReadBundledFile } from './agent-release.ts'
import { type EmitEvent, throttleProgress } from './event-stream.ts'
import { findRunningAgent } from './running-agent.ts'
import { type Reconnect, Session } from './session.ts'

export interface ConnectAgentsOptions {
  /** Logs in to a host. */
  readonly connect: (host: HostSpec, signal: AbortSignal) => Promise<Remote>
  /** Returns the hyperkube release for an architecture and operating system. */
  readonly release: (arch: Arch, os: Os) => Promise<AgentRelease>
  readonly emit: EmitEvent
  /** Called for each host whose agent has answered. */
  readonly onConnected?: (host: string) => void
  readonly signal: AbortSignal
  /**
   * Milliseconds until a host rolls back to its previous agent, unless the new agent answers. Undefined means
   * the default.
   */
  readonly rollbackAfterMs?: number
  /**
   * Input from which the services of agents on Windows hosts are planned. Undefined if the cluster has no
   * Windows host.
   */
  readonly setup?: RunnerContext | undefined
  /** Reads bundled files that a Windows host needs for its agent. Undefined if hosts download files. */
  readonly readBundledFile?: ReadBundledFile | undefined
  /** True to change nothing on hosts: a host without a running agent of this release is not read. */
  readonly readOnly?: boolean | undefined
}

/** Reachable hosts with their agents, and the errors of the unreachable ones. */
export interface ConnectedAgents {
  readonly sessions: ReadonlyMap<string, Session>
  /** Agent versions by host. */
  readonly agents: ReadonlyMap<string, string>
  readonly unreachable: ReadonlyMap<string, HyperkubeError>
  /** Unfinished etcd restores by host. */
  readonly restores: ReadonlyMap<string, EtcdRestoreProgress>
  /** Provisional changes by host: active ones, and those that the host has rolled back. */
  readonly provisionalChanges: ReadonlyMap<string, HostProvisionalChange>
  close(): Promise<void>
}

/**
 * Maximum number of hosts to which connections are opened at the same time. With more hosts, the buffers of
 * agent uploads could fill the memory, and slow agents could exceed their timeouts.
 */
const maxConcurrentHosts = 64

/**
 * Connects to hosts concurrently. Unreachable hosts do not fail the call: they are returned with their
 * errors.
 */
export async function connectAgents(
  hosts: readonly HostSpec[],
  options: ConnectAgentsOptions,
): Promise<ConnectedAgents> {
  const sessions = new Map<string, Session>()
  const agents = new Map<string, string>()
  const unreachable = new Map<string, HyperkubeError>()
  const restores = new Map<string, EtcdRestoreProgress>()
  const provisionalChanges = new Map<string, HostProvisionalChange>()
  await mapWithConcurrency(maxConcurrentHosts, hosts, async (host) => {
    try {
      const { session, version, restore, provisional } = await connectHost(host, options)
      sessions.set(host.name, session)
      agents.set(host.name, version)
      if (restore !== undefined) restores.set(host.name, restore)
      if (provisional !== undefined) provisionalChanges.set(host.name, provisional)
      options.onConnected?.(host.name)
    } catch (error) {
      options.signal.throwIfAborted()
      unreachable.set(host.name, toHyperkubeError(error, host.name))
    }
  })
  return {
    sessions: sortByHost(hosts, sessions),
    agents: sortByHost(hosts, agents),
    unreachable: sortByHost(hosts, unreachable),
    restores: sortByHost(hosts, restores),
    provisionalChanges: sortByHost(hosts, provisionalChanges),
    async close() {
      await Promise.allSettled([...sessions.values()].map(async (session) => session.close()))
    },
  }
}

/** Sorts results in the order of cluster.yml, so that repeated runs print the same output. */
function sortByHost<T>(hosts: readonly HostSpec[], found: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const known = hosts.flatMap(({ name }) => {
    const one = found.get(name)
    return one === undefined ? [] : [[name, one] as const]
  })
  return new Map(known)
}

interface ConnectedHost {
  readonly session: Session
  readonly version: string
  readonly restore: EtcdRestoreProgress | undefined
  readonly provisional: HostProvisionalChange | undefined
}

/**
 * How often the connection may be lost during the installation of an agent before the host counts as
 * unreachable.
 */
const maxLosses = 3

async function connectHost(host: HostSpec, options: ConnectAgentsOptions): Promise<ConnectedHost> {
  for (let lost = 0; ; lost++) {
    try {
      return await installAndConnect(host, options)
    } catch (error) {
      if (!hasCode(error, 'SSH_LOST') || lost === maxLosses) throw error
    }
  }
}

async function installAndConnect(host: HostSpec, options: ConnectAgentsOptions): Promise<ConnectedHost> {
  const { connect, release, emit, signal } = options
  const remote = await connect(host, signal)
  try {
    const running = await findRunningAgent(remote, release, signal)
    const reconnect: Reconnect = async (again) => connect(host, again)
    if (running !== undefined) {
      const { link, hello } = running
      const { version, restore, provisional } = hello
      return {
        session: new Session(host.name, remote, reconnect, signal, link),
        version,
        restore,
        provisional,
      }
    }
    if (options.readOnly === true) {
      const session = new Session(host.name, remote, reconnect, signal)
      return { session, ...(await requireCurrentAgent(session, release)) }
    }
    const subject = { host: host.name, component: 'hyperkube-agent' }
    const { version, provisional: isProvisional } = await installAgent(remote, release, {
      signal,
      ...(options.rollbackAfterMs === undefined ? {} : { rollbackAfterMs: options.rollbackAfterMs }),
      setup: options.setup,
      readBundledFile: options.readBundledFile,
      onProgress: throttleProgress((done, total) =>
        emit({ type: 'progress', done, total, unit: 'MB' }, subject),
      ),
    })
    const session = new Session(host.name, remote, reconnect, signal)
    const { restore, provisional } = await handshake(session, version, remote)
    if (isProvisional) await confirmAgent(remote, signal)
    return { session, version, restore, provisional }
  } catch (error) {
    await remote.close().catch(() => undefined)
    throw error
  }
}

/** Checks that an agent of this release runs on a host. Installs nothing. */
async function requireCurrentAgent(
  session: Session,
  releaseFor: ConnectAgentsOptions['release'],
): Promise<Omit<ConnectedHost, 'session'>> {
  const { version, restore, provisional, installation } = await session.request({ type: 'hello' }, 'hello')
  const release = installation && (await releaseFor(installation.arch, 'linux'))
  if (release?.version === version) return { version, restore, provisional }
  throw new HyperkubeError('AGENT_NOT_INSTALLED', `agent ${version} is not of this release`, {
    host: session.host,
    hint: 'to install it and plan: hyperkube plan',
  })
}

/**
 * Checks that the installed agent answers with the expected version. A new agent is confirmed only after this
 * check.
 */
async function handshake(
  session: Session,
  version: string,
  { windows }: Remote,
): Promise<Pick<ConnectedHost, 'restore' | 'provisional'>> {
  const { host } = session
  const hint =
    windows === undefined
      ? 'on the host: journalctl -u hyperkube-agent'
      : `on the host: type ${buildWindowsPaths(windows.base).logs}\\hyperkube-agent.log`
  const hello = await session.request({ type: 'hello' }, 'hello').catch((cause: unknown) => {
    if (!hasCode(cause, 'TIMED_OUT')) throw cause
    const message = `agent ${version} does not respond; the host rolls back to its previous agent, if there is one`
    throw new HyperkubeError('AGENT_NOT_STARTED', message, { host, hint, cause })
  })
  if (hello.version === version) return { restore: hello.restore, provisional: hello.provisional }
  const message = `agent ${version} did not respond, and the host rolled back to agent ${hello.version}`
  throw new HyperkubeError('AGENT_ROLLED_BACK', message, { host, hint })
}

function toHyperkubeError(error: unknown, host: string): HyperkubeError {
  if (error instanceof HyperkubeError) return error
  return new HyperkubeError('UNEXPECTED', formatError(error), { host, cause: error })
}
