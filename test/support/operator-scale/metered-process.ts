import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { type ProcessUsage, readProcessUsage } from '../process-usage.ts'

/** Exit code, output and resource use of a program. */
export interface MeteredRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** Processor time of all threads of the process and of its children, in seconds. */
  readonly cpuSeconds: number
  readonly seconds: number
  /** Peak of resident memory of the process, in bytes. */
  readonly peakBytes: number
}

const sampleIntervalMs = 50

/** Runs a program and samples its processor time and memory until it ends. */
export async function runMetered(
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<MeteredRun> {
  const startedAt = performance.now()
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => void stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => void stderr.push(chunk))
  const usages = new Map<number, ProcessUsage>()
  const timer = setInterval(() => void sampleUsages(child.pid ?? 0, usages), sampleIntervalMs)
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve(status ?? -1))
  }).finally(() => clearInterval(timer))
  const seconds = (performance.now() - startedAt) / 1000
  const toText = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8')
  const cpuSeconds = [...usages.values()].reduce((sum, usage) => sum + usage.cpuSeconds, 0)
  const { peak: peakBytes = 0 } = usages.get(child.pid ?? 0) ?? {}
  return { code, stdout: toText(stdout), stderr: toText(stderr), seconds, cpuSeconds, peakBytes }
}

/** An ended process has no files in /proc, so its last successful sample counts. */
async function sampleUsages(pid: number, usages: Map<number, ProcessUsage>): Promise<void> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  for (const one of [pid, ...children.split(' ').filter(Boolean).map(Number)]) {
    const usage = await readProcessUsage(one).catch(() => undefined)
    // A process that has ended but is not reaped yet has no memory.
    if (usage !== undefined && !Number.isNaN(usage.peak)) usages.set(one, usage)
  }
}
