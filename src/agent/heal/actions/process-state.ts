import type { LinuxHost } from '../../host/host.ts'

/** State of a process, from /proc. */
export interface ProcessState {
  /** State letter and name, for example T (stopped), D (disk sleep) or S (sleeping). */
  readonly state: string
  /** Kernel function in which the process waits; empty if the kernel does not expose it. */
  readonly waitChannel: string
}

export async function readProcessState(
  { files }: Pick<LinuxHost, 'files'>,
  pid: number,
): Promise<ProcessState | undefined> {
  if (pid === 0) return undefined
  const [status, wchan] = await Promise.all(
    ['status', 'wchan'].map(async (file) => files.read(`/proc/${pid}/${file}`).catch(() => undefined)),
  )
  const [, state] = /^State:\s*(.+)$/m.exec(status?.toString('utf8') ?? '') ?? []
  if (state === undefined) return undefined
  const channel = wchan?.toString('utf8').trim() ?? ''
  return { state, waitChannel: channel === '0' ? '' : channel }
}

/** True if the process is stopped. It then reacts to no signal except SIGKILL. */
export function isStopped({ state }: ProcessState): boolean {
  return /^[Tt]\b/.test(state)
}

/**
 * True if a process certainly existed before a moment, in nanoseconds since 1970. The kernel sets the time of
 * /proc/PID when it is first read, so an older process may return false.
 */
export async function existedBefore(
  { files }: Pick<LinuxHost, 'files'>,
  pid: number,
  moment: bigint,
): Promise<boolean> {
  const facts = pid === 0 ? undefined : await files.stat(`/proc/${pid}`)
  return facts !== undefined && BigInt(facts.modified) < moment
}
