import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from '../../lab/hosts/host.ts'

/** What hyperkube itself takes of a host that has nothing to do. */
export interface IdleCost {
  /** Memory of its processes in bytes; what they share is counted once. */
  readonly pss: number
  /** Of one core, with all that they started and saw end: 0.01 is a hundredth. */
  readonly cpuShare: number
}

const services = ['hyperkube-agent', 'apiserver-proxy']

/** Looks at a host for so long. */
export async function idleCost(host: Host, milliseconds = 30_000): Promise<IdleCost> {
  const before = await cpuTime(host)
  const began = performance.now()
  await sleep(milliseconds)
  const used = (await cpuTime(host)) - before
  return { pss: await pss(host), cpuShare: used / (performance.now() - began) }
}

/** Milliseconds. */
async function cpuTime(host: Host): Promise<number> {
  const stats = await perService(host, 'cat /proc/$pid/stat; getconf CLK_TCK')
  const times = stats.map((text) => {
    const [stat = '', ticks = ''] = text.trim().split('\n')
    // Behind the name, which may be anything: the twelfth to the fifteenth are its own time and that of its children.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (sum(fields.slice(11, 15).map(Number)) * 1000) / Number(ticks)
  })
  return sum(times)
}

async function pss(host: Host): Promise<number> {
  const maps = await perService(host, 'cat /proc/$pid/smaps_rollup')
  return sum(maps.map((text) => Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1]) * 1024))
}

async function perService(host: Host, script: string): Promise<string[]> {
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
