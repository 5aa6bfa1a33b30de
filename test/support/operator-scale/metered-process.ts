import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'

/** Exit code, output and resource use of a program. */
export interface MeteredRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** Processor time of all threads of the process, in seconds. */
  readonly cpuSeconds: number
  readonly seconds: number
  /** Peak of resident memory, in bytes. */
  readonly peakBytes: number
}

const sampleIntervalMs = 50
/** Clock ticks per second in /proc. All usual Linux kernels have this value. */
const ticksPerSecond = 100

/** Runs a program and samples its own processor time and memory until it ends. */
export async function runMetered(
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<MeteredRun> {
  const startedAt = performance.now()
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => void stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => void stderr.push(chunk))
  let usage = { cpuSeconds: 0, peakBytes: 0 }
  const timer = setInterval(() => {
    // An ended process has no files in /proc, so the last successful sample counts.
    readUsage(child.pid ?? 0).then(
      (sample) => (usage = sample),
      () => undefined,
    )
  }, sampleIntervalMs)
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve(status ?? -1))
  }).finally(() => clearInterval(timer))
  const seconds = (performance.now() - startedAt) / 1000
  const toText = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8')
  return { code, stdout: toText(stdout), stderr: toText(stderr), seconds, ...usage }
}

async function readUsage(pid: number): Promise<Pick<MeteredRun, 'cpuSeconds' | 'peakBytes'>> {
  const [stat, status] = await Promise.all(
    ['stat', 'status'].map(async (name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
  )
  const [, fields = ''] = /\) (.*)$/s.exec(stat ?? '') ?? []
  const [user, system] = fields.split(' ').slice(11, 13).map(Number)
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status ?? '') ?? []
  // A process that has ended but is not reaped yet has no memory.
  if (kilobytes === undefined) throw new Error(`process ${pid} has ended`)
  return { cpuSeconds: ((user ?? 0) + (system ?? 0)) / ticksPerSecond, peakBytes: Number(kilobytes) * 1024 }
}
