import type { LinuxHost } from '../../host/host.ts'

/** What the kernel says of a process. */
export interface ProcessState {
  /** T (stopped), D (disk sleep), S (sleeping), … */
  readonly state: string
  /** What it waits for in the kernel; empty where nobody tells. */
  readonly waitsIn: string
}

export async function processState(
  { files }: Pick<LinuxHost, 'files'>,
  pid: number,
): Promise<ProcessState | undefined> {
  if (pid === 0) return undefined
  const [status, wchan] = await Promise.all(
    ['status', 'wchan'].map(async (file) => files.read(`/proc/${pid}/${file}`).catch(() => undefined)),
  )
  const [, state] = /^State:\s*(.+)$/m.exec(status?.toString('utf8') ?? '') ?? []
  if (state === undefined) return undefined
  const place = wchan?.toString('utf8').trim() ?? ''
  return { state, waitsIn: place === '0' ? '' : place }
}

/** Whether it takes no signal but the one that nobody can refuse. */
export function isStopped({ state }: ProcessState): boolean {
  return /^[Tt]\b/.test(state)
}

/**
 * Whether a process was there before a moment, in nanoseconds. The kernel tells when it has first been looked at, which may
 * be later: that it was there is certain, that it was not is no more than possible.
 */
export async function wasThereBefore(
  { files }: Pick<LinuxHost, 'files'>,
  pid: number,
  moment: bigint,
): Promise<boolean> {
  const facts = pid === 0 ? undefined : await files.stat(`/proc/${pid}`)
  return facts !== undefined && BigInt(facts.modified) < moment
}
