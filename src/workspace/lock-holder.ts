import type { Operator } from './context.ts'

/**
 * Formats the name of the holder of an operator lock. The name includes the process ID, so two commands of
 * one operator differ.
 */
export function formatHolder({ user, machine }: Operator, pid: number): string {
  return `${user}@${machine} (process ${pid})`
}

/** True if the holder was a process on the operator's machine and has ended. */
export function isHolderGone(
  holder: string,
  { machine }: Operator,
  isRunning: (pid: number) => boolean,
): boolean {
  const [, holderMachine, pid] = /@(.+) \(process (\d+)\)$/.exec(holder) ?? []
  return holderMachine === machine && !isRunning(Number(pid))
}

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
