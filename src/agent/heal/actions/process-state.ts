import type { LinuxHost } from '../../host/host.ts'

/** State of a process, from /proc. */
export interface ProcessState {
  /** T (stopped), D (disk sleep), S (sleeping), … */
  readonly state: string
  /** The kernel function that it waits in; empty if the kernel does not tell. */
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

/** Whether the process is stopped and handles no signal except SIGKILL. */
export function isStopped({ state }: ProcessState): boolean {
  return /^[Tt]\b/.test(state)
}

/**
 * Whether a process existed before a moment, in nanoseconds. The kernel stamps /proc/PID when it is first
 * read, which may be later: true is certain, false only possible.
 */
export async function existedBefore(
  { files }: Pick<LinuxHost, 'files'>,
  pid: number,
  moment: bigint,
): Promise<boolean> {
  const facts = pid === 0 ? undefined : await files.stat(`/proc/${pid}`)
  return facts !== undefined && BigInt(facts.modified) < moment
}
