import { request } from 'node:https'
import { runProgram } from '../../src/kit/command.ts'
import type { Host } from '../../lab/hosts/host.ts'

/** One request to the virtual IP. Times are milliseconds of the monotonic clock. */
interface ClientResult {
  readonly at: number
  readonly ready: boolean
}

/** Which hosts had the virtual IP at one time. */
interface HolderSample {
  readonly at: number
  readonly holders: readonly string[]
}

const clientIntervalMs = 100
const holderIntervalMs = 150
/** Longest wait of the client for one response. */
const requestTimeoutMs = 1000

export interface VirtualIpWatch {
  readonly results: readonly ClientResult[]
  readonly samples: readonly HolderSample[]
  stop(): Promise<void>
}

/**
 * Polls /readyz at the virtual IP from the bridge, each time with a new connection and a verified certificate.
 * Also reads which hosts have the address. Hosts are read in their network namespaces, because ssh would
 * not reach a host that is cut off.
 */
export function watchVirtualIp(address: string, ca: string, hosts: readonly Host[]): VirtualIpWatch {
  const results: ClientResult[] = []
  const samples: HolderSample[] = []
  const running = new Set<Promise<unknown>>()
  const track = (work: Promise<unknown>): void => {
    running.add(work)
    void work.finally(() => running.delete(work))
  }
  const client = setInterval(() => {
    const at = performance.now()
    track(isReady(address, ca).then((ready) => results.push({ at, ready })))
  }, clientIntervalMs)
  const sampler = setInterval(() => {
    const at = performance.now()
    track(findHolders(address, hosts).then((holders) => samples.push({ at, holders })))
  }, holderIntervalMs)
  return {
    results,
    samples,
    async stop() {
      clearInterval(client)
      clearInterval(sampler)
      await Promise.all(running)
      results.sort((a, b) => a.at - b.at)
      samples.sort((a, b) => a.at - b.at)
    },
  }
}

async function isReady(address: string, ca: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const sent = request(
    {
      host: address,
      port: 6443,
      path: '/readyz',
      ca,
      agent: false,
      signal: AbortSignal.timeout(requestTimeoutMs),
    },
    (response) => {
      response.on('error', () => resolve(false)).resume()
      resolve(response.statusCode === 200)
    },
  )
  sent.on('error', () => resolve(false))
  sent.end()
  return promise
}

/** Lists the running hosts that have the address on an interface. */
export async function findHolders(address: string, hosts: readonly Host[]): Promise<string[]> {
  const found = await Promise.all(
    hosts.map(async ({ name, hostId }) => {
      const argv = ['ip', '-netns', hostId, '-4', '-o', 'address', 'show', 'to', `${address}/32`] as const
      // A host that is off has no network namespace.
      const { stdout } = await runProgram(argv, { allowFailure: true })
      return stdout.trim() === '' ? [] : [name]
    }),
  )
  return found.flat()
}

/** Longest time between two successful requests after `since`, in milliseconds. */
export function measureOutage({ results }: Pick<VirtualIpWatch, 'results'>, since: number): number {
  const times = [since, ...results.filter(({ at, ready }) => ready && at > since).map(({ at }) => at)]
  return times.reduce((longest, at, index) => Math.max(longest, at - (times[index - 1] ?? at)), 0)
}

/** Largest number of hosts that had the address at the same time. */
export function countHolders({ samples }: Pick<VirtualIpWatch, 'samples'>): number {
  return Math.max(0, ...samples.map(({ holders }) => holders.length))
}
