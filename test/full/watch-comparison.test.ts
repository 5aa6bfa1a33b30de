import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalControlPlane, startLocalControlPlane } from '../support/local-control-plane.ts'
import { createRandom } from '../support/random.ts'
import {
  installPackage,
  measurePackage,
  packHyperkube,
  type PackageCost,
} from '../support/watch-comparison/installed-package.ts'
import { writeSdkEvidence } from '../support/watch-comparison/sdk-evidence.ts'
import { WatchComparison, type WatchFigures } from '../support/watch-comparison/watch-comparison.ts'
import {
  clientNodeProgram,
  hyperkubeProgram,
  type WatchProgram,
} from '../support/watch-comparison/watch-programs.ts'

const [kubernetes, etcd] = ['v1.37.1', 'v3.7.3']
const clientNode = '@kubernetes/client-node@2.0.1'
const cuts = 1000
const halfOpenCuts = 2
const halfOpenTimeoutMs = 240_000
/** The test of a client ends after this time, even if fewer connections were cut. */
const timeLimitMs = 45 * 60_000
const seed = Number(process.env['WATCH_SEED'] ?? randomInt(2 ** 31))

let directory: string
let controlPlane: LocalControlPlane
const projects = new Map<WatchProgram, string>()
const costs = new Map<WatchProgram, PackageCost>()
const figures = new Map<string, WatchFigures>()
let packedSize = 0

beforeAll(async () => {
  process.stderr.write(`watch comparison: seed ${seed}\n`)
  directory = await mkdtemp(join(tmpdir(), 'watch-comparison-'))
  const { archive, size } = await packHyperkube(directory)
  packedSize = size
  projects.set(hyperkubeProgram, await installPackage(directory, hyperkubeProgram.package, archive))
  projects.set(clientNodeProgram, await installPackage(directory, clientNodeProgram.package, clientNode))
  controlPlane = await startLocalControlPlane(etcd)
  await controlPlane.serve(kubernetes, [])
})
afterAll(async () => {
  await controlPlane[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

async function compare(program: WatchProgram, kind: 'reset' | 'half-open'): Promise<WatchFigures> {
  const options = {
    name: `${program.package.replaceAll(/\W/g, '')}-${kind}`,
    kind,
    cuts: kind === 'reset' ? cuts : halfOpenCuts,
    timeLimitMs,
    syncTimeoutMs: kind === 'reset' ? 60_000 : halfOpenTimeoutMs,
  }
  await using comparison = await WatchComparison.open(
    program,
    options,
    projects.get(program) ?? '',
    controlPlane,
    createRandom(seed),
  )
  const found = await comparison.cut()
  figures.set(`${program.package} ${kind}`, found)
  process.stderr.write(`${program.package}, ${kind}: ${JSON.stringify(found)}\n`)
  return found
}

test.each([
  [hyperkubeProgram, 'hyperkube/kube'],
  [clientNodeProgram, '@kubernetes/client-node'],
])('the cost of the package $package', async (program, entry) => {
  const cost = await measurePackage(projects.get(program) ?? '', program.package, entry)
  process.stderr.write(`${entry}: ${JSON.stringify(cost)}\n`)
  costs.set(program, cost)
  expect(cost.importMs).toBeGreaterThan(0)
})

// The four tests run at once, because most of their time is waiting.
describe.concurrent('watches', { timeout: 3_600_000 }, () => {
  test(`hyperkube/kube misses no change when its connections are cut ${cuts} times`, async () => {
    const found = await compare(hyperkubeProgram, 'reset')
    expect(found).toMatchObject({ missed: 0, wrong: 0, cuts })
    expect(found.after.heapUsed - found.before.heapUsed).toBeLessThan(10e6)
  })

  test('the same for @kubernetes/client-node', async () => {
    expect((await compare(clientNodeProgram, 'reset')).cuts).toBeGreaterThan(0)
  })

  test('hyperkube/kube recovers from half-open connections', async () => {
    expect(await compare(hyperkubeProgram, 'half-open')).toMatchObject({ missed: 0, wrong: 0 })
  })

  test('the same half-open connections for @kubernetes/client-node', async () => {
    expect((await compare(clientNodeProgram, 'half-open')).cuts).toBe(halfOpenCuts)
  })
})

test('the evidence is written', async () => {
  const collect = (program: WatchProgram) => {
    const [cost, reset, halfOpen] = [
      costs.get(program),
      figures.get(`${program.package} reset`),
      figures.get(`${program.package} half-open`),
    ]
    if (cost === undefined || reset === undefined || halfOpen === undefined)
      throw new Error(`${program.package} was not measured`)
    return { cost, cuts: reset, halfOpen }
  }
  await expect(
    writeSdkEvidence({
      seed,
      timeLimitMs,
      kubernetes,
      etcd,
      packedSize,
      halfOpenTimeoutMs,
      hyperkube: collect(hyperkubeProgram),
      clientNode: collect(clientNodeProgram),
    }),
  ).resolves.toBeUndefined()
})
