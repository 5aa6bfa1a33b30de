import { readFile } from 'node:fs/promises'

/** Memory and processor time of a process. */
export interface ProcessUsage {
  /** Resident memory in bytes. */
  readonly resident: number
  /** Peak of resident memory in bytes. */
  readonly peak: number
  /** Processor time since its start, in seconds. */
  readonly cpuSeconds: number
}

/** Clock ticks per second in /proc. All usual Linux kernels have this value. */
const ticksPerSecond = 100

export async function readProcessUsage(pid: number): Promise<ProcessUsage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ])
  // The name of the program may contain spaces, so fields are counted after its closing parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system] = [Number(fields[11]), Number(fields[12])]
  const readBytes = (field: string): number =>
    Number(new RegExp(String.raw`^${field}:\s+(\d+)`, 'm').exec(status)?.[1]) * 1024
  return {
    resident: readBytes('VmRSS'),
    peak: readBytes('VmHWM'),
    cpuSeconds: (user + system) / ticksPerSecond,
  }
}
