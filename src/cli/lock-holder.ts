import type { Operator } from './command.ts'

/** Who holds a claim: a process of a person on a machine, so that two commands of one person are two. */
export function holderName({ user, machine }: Operator, pid: number): string {
  return `${user}@${machine} (process ${pid})`
}

/** Whether a holder was a process of this machine that has ended. */
export function isGone(holder: string, { machine }: Operator, lives: (pid: number) => boolean): boolean {
  const [, where, pid] = /@(.+) \(process (\d+)\)$/.exec(holder) ?? []
  return where === machine && !lives(Number(pid))
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
