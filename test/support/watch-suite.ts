import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { until } from '../../src/kit/poll-until.ts'
import { type ApiServers, apiServers } from './api-servers.ts'
import { heldNow } from './held.ts'
import { freshLab } from './lab.ts'
import { signal } from './proxied-api.ts'
import { seeded } from './random.ts'
import { WatchCourse } from './watch-scenario.ts'

export interface WatchSuite {
  /** Of its lab. */
  readonly name: string
  readonly cuts: number
  /** How often the API server is killed. */
  readonly kills: number
  /** Milliseconds for all cuts. */
  readonly within: number
  /** Of the random choices; another one each time unless it is said. */
  readonly seed?: number
}

/** Short, so that half-open connections do not take all the time. */
const silence = 600

/** A watch of a real API server sees all that happens, whatever becomes of its connections and of the server. */
export function watchSuite({ name, cuts, kills, within, seed: fixed }: WatchSuite): void {
  const seed = Number(process.env['WATCH_SEED'] ?? fixed ?? randomInt(2 ** 31))
  let lab: Lab
  let cluster: ApiServers
  let server: Host
  let course: WatchCourse

  beforeAll(async () => {
    process.stderr.write(`watch: seed ${seed}\n`)
    lab = await freshLab(name)
    cluster = await apiServers(lab, '1+0', '1.37.1')
    const [first] = cluster.controlPlanes
    if (first === undefined) throw new Error('there is no server')
    server = first
    const { address } = server
    course = await WatchCourse.open({ address, credentials: cluster.admin, random: seeded(seed), silence })
  })
  afterAll(async () => {
    try {
      process.stderr.write(`watch: ${JSON.stringify(course.figures())}\n`)
      await course[Symbol.asyncDispose]()
      await cluster.close()
    } finally {
      await lab.down()
    }
  })

  test(
    `${cuts} cuts, and nothing is missed`,
    async () => {
      await course.act(30)
      const warm = Math.ceil(cuts / 5)
      for (let turn = 0; turn < warm; turn++) await course.cut()
      const before = heldNow()
      for (let turn = warm; turn < cuts; turn++) await course.cut()
      await course.settle()
      const grown = (heldNow().heap - before.heap) / 1e6
      process.stderr.write(`watch: ${grown.toFixed(1)} MB more are held after ${cuts - warm} cuts\n`)
      expect(course.wrong()).toEqual([])
      // The course itself remembers every deed and every word, some hundred bytes each.
      expect(grown).toBeLessThan(10)
      expect(heldNow().sockets).toBeLessThan(20)
    },
    within,
  )

  test(`the API server is killed, ${kills} times, and nothing is missed`, async () => {
    for (let turn = 0; turn < kills; turn++) {
      const before = await pid()
      await signal(server, 'KILL')
      await course.act(10)
      await course.settle()
      await until('another server', async () => (await pid()) !== before, { within: 60_000 })
    }
    expect(course.wrong()).toEqual([])
  })

  test('the API server is restarted as it should be, and nothing is missed', async () => {
    const before = await pid()
    const over = new AbortController()
    const restart = server.exec(['systemctl', 'restart', 'kube-apiserver']).finally(() => over.abort())
    do await course.act(1)
    while (!over.signal.aborted)
    await restart
    await course.act(10)
    await course.settle()
    expect(await pid()).not.toBe(before)
    expect(course.wrong()).toEqual([])
  })

  async function pid(): Promise<string> {
    return (await server.exec(['systemctl', 'show', '-P', 'MainPID', 'kube-apiserver'])).stdout.trim()
  }
}
