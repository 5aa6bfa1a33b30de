import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'

/** Resources that hyperkube's services use on an idle host. */
export interface IdleCost {
  /** Proportional set size (PSS) of the processes in bytes. */
  readonly pss: number
  /** Share of one core, including ended child processes: 0.01 is one percent. */
  readonly cpuShare: number
}

const services = ['hyperkube-agent', 'apiserver-proxy']

/** Waits until the services of a host use less than `maxCpuShare` of a core, and prints what they use. */
export async function waitUntilIdle(
  host: Host | undefined,
  { maxCpuShare, timeoutMs }: { readonly maxCpuShare: number; readonly timeoutMs: number },
): Promise<IdleCost> {
  if (host === undefined) throw new Error('there is no host')
  const idle = await pollUntil(
    'the host to come to rest',
    async () => {
      const cost = await measureIdleCost(host)
      return cost.cpuShare < maxCpuShare && cost
    },
    { timeoutMs },
  )
  const { pss, cpuShare } = idle
  process.stderr.write(`idle: ${(pss / 1e6).toFixed(0)} MB, ${(cpuShare * 100).toFixed(2)} % of a core\n`)
  return idle
}

/** Measures the services of a host over `durationMs`. */
async function measureIdleCost(host: Host, durationMs = 30_000): Promise<IdleCost> {
  const before = await readCpuTime(host)
  const began = performance.now()
  await sleep(durationMs)
  const used = (await readCpuTime(host)) - before
  return { pss: await readPss(host), cpuShare: used / (performance.now() - began) }
}

/** Returns the CPU time of the services so far, in milliseconds. */
async function readCpuTime(host: Host): Promise<number> {
  const stats = await readPerService(host, 'cat /proc/$pid/stat; getconf CLK_TCK')
  const times = stats.map((text) => {
    const [stat = '', ticks = ''] = text.trim().split('\n')
    // The process name may contain spaces, so fields are counted after it. Fields 12 to 15 are CPU times of
    // the process and its children.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (sum(fields.slice(11, 15).map(Number)) * 1000) / Number(ticks)
  })
  return sum(times)
}

async function readPss(host: Host): Promise<number> {
  const maps = await readPerService(host, 'cat /proc/$pid/smaps_rollup')
  return sum(maps.map((text) => Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1]) * 1024))
}

async function readPerService(host: Host, script: string): Promise<string[]> {
  const texts: string[] = []
  for (const service of services) {
    const { stdout } = await host.script(`pid=$(systemctl show -P MainPID ${service})\n${script}`)
    texts.push(stdout)
  }
  return texts
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
