import type { Arch } from '../catalog/target.ts'
import { describe, HyperkubeError } from '../kit/errors.ts'
import type { Host } from '../spec/host.ts'
import type { Remote } from '../ssh/remote.ts'
import { installAgent, keepAgent, type OwnRelease } from './agent-install.ts'
import { Session } from './session.ts'
import type { Tell } from './stream.ts'

export interface CrewOptions {
  /** Logs in to a host. */
  readonly connect: (host: Host, signal: AbortSignal) => Promise<Remote>
  /** hyperkube for a kind of host. */
  readonly release: (arch: Arch) => Promise<OwnRelease>
  readonly tell: Tell
  readonly signal: AbortSignal
}

/** The hosts that answer, each with its agent, and why the others do not. */
export interface Crew {
  readonly sessions: ReadonlyMap<string, Session>
  readonly missing: ReadonlyMap<string, HyperkubeError>
  close(): Promise<void>
}

/** Goes to every host at once. One that does not answer is left out; what that means is decided by others. */
export async function gather(hosts: readonly Host[], options: CrewOptions): Promise<Crew> {
  const sessions = new Map<string, Session>()
  const missing = new Map<string, HyperkubeError>()
  await Promise.all(
    hosts.map(async (host) => {
      try {
        sessions.set(host.name, await meet(host, options))
      } catch (error) {
        options.signal.throwIfAborted()
        missing.set(host.name, asError(error, host.name))
      }
    }),
  )
  return {
    sessions,
    missing,
    async close() {
      await Promise.allSettled([...sessions.values()].map(async (session) => session.close()))
    },
  }
}

async function meet(host: Host, { connect, release, tell, signal }: CrewOptions): Promise<Session> {
  const remote = await connect(host, signal)
  try {
    const about = { host: host.name, component: 'hyperkube-agent' }
    await installAgent(remote, await release(await archOf(remote, signal)), {
      signal,
      onProgress: (sent, size) =>
        tell({ type: 'progress', done: megabytes(sent), total: megabytes(size), unit: 'MB' }, about),
    })
    const session = new Session(host.name, remote, async (again) => connect(host, again), signal)
    await session.ask({ type: 'hello' }, 'hello')
    await keepAgent(remote, signal)
    return session
  } catch (error) {
    await remote.close().catch(() => undefined)
    throw error
  }
}

const arches: Readonly<Record<string, Arch>> = { x86_64: 'amd64', aarch64: 'arm64' }

async function archOf(remote: Remote, signal: AbortSignal): Promise<Arch> {
  const { stdout } = await remote.exec(['uname', '-m'], { signal })
  const arch = arches[stdout.trim()]
  if (arch !== undefined) return arch
  throw new HyperkubeError('HOST_ARCH', `hyperkube has no programs for ${stdout.trim()}`, {
    host: remote.host,
    hint: 'hosts are x86_64 or aarch64',
  })
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6)
}

function asError(error: unknown, host: string): HyperkubeError {
  if (error instanceof HyperkubeError) return error
  return new HyperkubeError('UNEXPECTED', describe(error), { host, cause: error })
}
