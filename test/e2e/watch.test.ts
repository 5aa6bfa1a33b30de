import { randomInt } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { type ApiServers, startApiServers } from '../support/api-servers.ts'
import type { SuiteSize } from '../support/executable-setup.ts'
import { openFreshLab } from '../support/lab.ts'
import { signalApiServer } from '../support/proxied-api.ts'
import { createRandom } from '../support/random.ts'
import { WatchScenario } from '../support/watch-scenario.ts'

interface WatchOptions {
  /** Name of the lab. */
  readonly name: string
  readonly faults: number
  /** Number of times the API server is killed. */
  readonly kills: number
  /** Timeout in milliseconds for the test with connection faults. */
  readonly timeoutMs: number
  /** Seed of the random choices; by default a random one. */
  readonly fixedSeed?: number
}

const optionsBySize: Readonly<Record<SuiteSize, WatchOptions>> = {
  ci: { name: 'watch', faults: 40, kills: 2, timeoutMs: 120_000, fixedSeed: 1_447_511_654 },
  full: { name: 'watch-full', faults: 1000, kills: 5, timeoutMs: 1_800_000 },
}
const { name, faults, kills, timeoutMs, fixedSeed } = optionsBySize[inject('size')]

/**
 * Idle timeout of the watch in milliseconds. It is short, because the watch notices a half-open connection
 * only after this time.
 */
const silenceMs = 600

const seed = Number(process.env['WATCH_SEED'] ?? fixedSeed ?? randomInt(2 ** 31))
let lab: Lab
let cluster: ApiServers
let server: Host
let scenario: WatchScenario

beforeAll(async () => {
  process.stderr.write(`watch: seed ${seed}\n`)
  lab = await openFreshLab(name)
  cluster = await startApiServers(lab, '1+0', '1.37.1')
  const [first] = cluster.controlPlanes
  if (first === undefined) throw new Error('there is no server')
  server = first
  const { address } = server
  scenario = await WatchScenario.open({
    address,
    credentials: cluster.admin,
    random: createRandom(seed),
    silenceMs,
  })
})
afterAll(async () => {
  try {
    process.stderr.write(`watch: ${JSON.stringify(scenario.figures())}\n`)
    await scenario[Symbol.asyncDispose]()
    await cluster.close()
  } finally {
    await lab.down()
  }
})

test(
  `a watch misses no event during ${faults} connection faults`,
  async () => {
    await scenario.changeObjects(30)
    const warmUpCount = Math.ceil(faults / 5)
    for (let turn = 0; turn < warmUpCount; turn++) await scenario.breakConnections()
    const before = measureMemory()
    for (let turn = warmUpCount; turn < faults; turn++) await scenario.breakConnections()
    await scenario.waitUntilSynced()
    const grownMegabytes = (measureMemory().heap - before.heap) / 1e6
    process.stderr.write(
      `watch: ${grownMegabytes.toFixed(1)} MB more heap after ${faults - warmUpCount} faults\n`,
    )
    expect(scenario.findProblems()).toEqual([])
    // The limit includes the records of the scenario: some hundred bytes for each change and event.
    expect(grownMegabytes).toBeLessThan(10)
    expect(measureMemory().sockets).toBeLessThan(20)
  },
  timeoutMs,
)

test(`a watch misses no event while the API server is killed ${kills} times`, async () => {
  for (let turn = 0; turn < kills; turn++) {
    const before = await readPid()
    await signalApiServer(server, 'KILL')
    await scenario.changeObjects(10)
    await scenario.waitUntilSynced()
    await pollUntil('another server', async () => (await readPid()) !== before, { timeoutMs: 60_000 })
  }
  expect(scenario.findProblems()).toEqual([])
})

test('a watch misses no event during a graceful restart of the API server', async () => {
  const before = await readPid()
  const restarted = new AbortController()
  const restart = server.exec(['systemctl', 'restart', 'kube-apiserver']).finally(() => restarted.abort())
  do await scenario.changeObjects(1)
  while (!restarted.signal.aborted)
  await restart
  await scenario.changeObjects(10)
  await scenario.waitUntilSynced()
  expect(await readPid()).not.toBe(before)
  expect(scenario.findProblems()).toEqual([])
})

async function readPid(): Promise<string> {
  return (await server.exec(['systemctl', 'show', '-P', 'MainPID', 'kube-apiserver'])).stdout.trim()
}

/** Heap size and open sockets of this process after garbage collection. */
interface MemoryUse {
  readonly heap: number
  readonly sockets: number
}

function measureMemory(): MemoryUse {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('there is no way to collect garbage')
  collect()
  const sockets = process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCPSocket')).length
  return { heap: process.memoryUsage().heapUsed, sockets }
}
