import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { measureServices } from './service-cost.ts'

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
  const costs = await measureServices(host, services, { durationMs, samples: 1 })
  return { pss: sum(costs.map(({ pss }) => pss)), cpuShare: sum(costs.map(({ cpuShare }) => cpuShare)) }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
