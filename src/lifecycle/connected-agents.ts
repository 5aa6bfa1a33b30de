import type { Arch, Os } from '../catalog/artifact-target.ts'
import type { EtcdRestore } from '../contract/etcd-restore.ts'
import type { HostTrial } from '../contract/provisional-change.ts'
import { windowsPlaces } from '../contract/windows-paths.ts'
import { describe, hasCode, HyperkubeError } from '../kit/errors.ts'
import type { RunnerScene } from '../plan/windows/runner.ts'
import type { Host } from '../spec/host.ts'
import type { Remote } from '../ssh/remote.ts'
import { type Carried, installAgent, keepAgent, type OwnRelease } from './agent-install.ts'
import { byMegabyte } from './throttle-progress.ts'
import { Session } from './session.ts'
import type { Tell } from './event-stream.ts'

export interface CrewOptions {
  /** Logs in to a host. */
  readonly connect: (host: Host, signal: AbortSignal) => Promise<Remote>
  /** hyperkube for a kind of host. */
  readonly release: (arch: Arch, os: Os) => Promise<OwnRelease>
  readonly tell: Tell
  /** Hears of each host when its agent has answered. */
  readonly met?: (host: string) => void
  readonly signal: AbortSignal
  /** How long a new agent may take to answer, where that is not the usual time. */
  readonly trial?: number
  /** What the agents of Windows hosts are planned from, where there are such hosts. */
  readonly setup?: RunnerScene | undefined
  /** What Windows hosts need before they have an agent, where they shall not fetch it. */
  readonly carried?: Carried | undefined
}

/** The hosts that answer, each with its agent, and why the others do not. */
export interface Crew {
  readonly sessions: ReadonlyMap<string, Session>
  /** The releases of their agents. */
  readonly agents: ReadonlyMap<string, string>
  readonly missing: ReadonlyMap<string, HyperkubeError>
  /** Restores of etcd that were begun on them and are not over. */
  readonly restores: ReadonlyMap<string, EtcdRestore>
  /** What is tried on them, or was, and they went back from. */
  readonly trials: ReadonlyMap<string, HostTrial>
  close(): Promise<void>
}

/** Goes to every host at once. One that does not answer is left out; what that means is decided by others. */
export async function gather(hosts: readonly Host[], options: CrewOptions): Promise<Crew> {
  const sessions = new Map<string, Session>()
  const agents = new Map<string, string>()
  const missing = new Map<string, HyperkubeError>()
  const restores = new Map<string, EtcdRestore>()
  const trials = new Map<string, HostTrial>()
  await Promise.all(
    hosts.map(async (host) => {
      try {
        const { session, version, restore, trial } = await meet(host, options)
        sessions.set(host.name, session)
        agents.set(host.name, version)
        if (restore !== undefined) restores.set(host.name, restore)
        if (trial !== undefined) trials.set(host.name, trial)
        options.met?.(host.name)
      } catch (error) {
        options.signal.throwIfAborted()
        missing.set(host.name, asError(error, host.name))
      }
    }),
  )
  return {
    sessions: inOrder(hosts, sessions),
    agents: inOrder(hosts, agents),
    missing: inOrder(hosts, missing),
    restores: inOrder(hosts, restores),
    trials: inOrder(hosts, trials),
    async close() {
      await Promise.allSettled([...sessions.values()].map(async (session) => session.close()))
    },
  }
}

/** As the file has them, whoever came first: the same run shall read the same. */
function inOrder<T>(hosts: readonly Host[], found: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const known = hosts.flatMap(({ name }) => {
    const one = found.get(name)
    return one === undefined ? [] : [[name, one] as const]
  })
  return new Map(known)
}

interface Met {
  readonly session: Session
  readonly version: string
  readonly restore: EtcdRestore | undefined
  readonly trial: HostTrial | undefined
}

/** How often a way may be lost while an agent is brought on it. */
const losses = 3

async function meet(host: Host, options: CrewOptions): Promise<Met> {
  for (let lost = 0; ; lost++) {
    try {
      return await bringAgent(host, options)
    } catch (error) {
      if (!hasCode(error, 'SSH_LOST') || lost === losses) throw error
    }
  }
}

async function bringAgent(host: Host, options: CrewOptions): Promise<Met> {
  const { connect, release, tell, signal } = options
  const remote = await connect(host, signal)
  try {
    const about = { host: host.name, component: 'hyperkube-agent' }
    const { version, onTrial } = await installAgent(remote, release, {
      signal,
      ...(options.trial === undefined ? {} : { trial: options.trial }),
      setup: options.setup,
      carried: options.carried,
      onProgress: byMegabyte((done, total) => tell({ type: 'progress', done, total, unit: 'MB' }, about)),
    })
    const session = new Session(host.name, remote, async (again) => connect(host, again), signal)
    const { restore, trial } = await greet(session, version, remote)
    if (onTrial) await keepAgent(remote, signal)
    return { session, version, restore, trial }
  } catch (error) {
    await remote.close().catch(() => undefined)
    throw error
  }
}

/** The very agent that was put there must answer: after a while it would be the former one again. */
async function greet(
  session: Session,
  version: string,
  { windows }: Remote,
): Promise<Pick<Met, 'restore' | 'trial'>> {
  const { host } = session
  const hint =
    windows === undefined
      ? 'on the host: journalctl -u hyperkube-agent'
      : `on the host: type ${windowsPlaces(windows.base).logs}\\hyperkube-agent.log`
  const answered = await session.ask({ type: 'hello' }, 'hello').catch((cause: unknown) => {
    if (!hasCode(cause, 'TIMED_OUT')) throw cause
    const message = `its agent ${version} does not answer; if it had another one before, it goes back to that`
    throw new HyperkubeError('AGENT_NOT_STARTED', message, { host, hint, cause })
  })
  if (answered.version === version) return { restore: answered.restore, trial: answered.trial }
  const message = `its new agent ${version} did not answer, and it went back to ${answered.version}`
  throw new HyperkubeError('AGENT_WENT_BACK', message, { host, hint })
}

function asError(error: unknown, host: string): HyperkubeError {
  if (error instanceof HyperkubeError) return error
  return new HyperkubeError('UNEXPECTED', describe(error), { host, cause: error })
}
