import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { pollUntil } from '../../src/kit/poll.ts'
import { type FleetEvidence, formatFleetEvidence } from '../support/fleet/fleet-evidence.ts'
import { createSimulatedFleet, type SimulatedFleet } from '../support/fleet/simulated-fleet.ts'
import type { MeteredRun } from '../support/operator-scale/metered-process.ts'

const evidence = join(import.meta.dirname, '../../docs/evidence/fleet.md')
/** Number of simulated clusters. */
const size = Number(process.env['FLEET_CLUSTERS'] ?? 200)
const maxStatusSeconds = 10
const maxPeakBytes = 1.5 * 2 ** 30

const savedRun = z.looseObject({
  state: z.string(),
  waves: z.array(z.looseObject({ clusters: z.array(z.string()) })),
  clusters: z.record(z.string(), z.looseObject({ state: z.string(), endedAt: z.string().optional() })),
})
type SavedRun = z.infer<typeof savedRun>

const stack = new AsyncDisposableStack()
let fleet: SimulatedFleet | undefined
const figures: Partial<Record<keyof FleetEvidence['figures'], MeteredRun>> = {}

function fleetNow(): SimulatedFleet {
  if (fleet === undefined) throw new Error('the fleet is not simulated yet')
  return fleet
}

async function readRun(): Promise<SavedRun> {
  return savedRun.parse(await fleetNow().readRun())
}

function listClusters({ clusters }: SavedRun, ...states: readonly string[]): string[] {
  return Object.entries(clusters).flatMap(([name, { state }]) => (states.includes(state) ? [name] : []))
}

/** Returns when each cluster that is done was changed. A second change would have another time. */
function listChangeTimes(run: SavedRun, names: readonly string[]): (string | undefined)[] {
  return names.map((name) => run.clusters[name]?.endedAt)
}

beforeAll(async () => {
  fleet = stack.use(await createSimulatedFleet([inject('executable')], size))
}, 900_000)
afterAll(async () => stack.disposeAsync())

test('status of all clusters takes less than ten seconds', async () => {
  const run = await fleetNow().hyperkube('fleet', 'status', '-o', 'json')
  figures.status = run
  expect(JSON.parse(run.stdout)).toMatchObject({
    summary: { healthy: size, degraded: 0, unhealthy: 0, unknown: 0 },
  })
  expect(run.seconds).toBeLessThan(maxStatusSeconds)
  expect(run.peakBytes).toBeLessThan(maxPeakBytes)
})

test('a failure in the second wave stops the rollout there', { timeout: 3_600_000 }, async () => {
  const broken = fleetNow().names[Math.floor(size * 0.05)] ?? ''
  await fleetNow().setBroken(broken, true)
  const run = await fleetNow().hyperkube('fleet', 'up', '--yes')
  figures.stopped = run
  expect(run.code).toBe(1)
  const saved = await readRun()
  expect(saved.state).toBe('stopped')
  expect(listClusters(saved, 'failed')).toEqual([broken])
  expect(saved.waves[1]?.clusters).toContain(broken)
  const later = saved.waves.slice(2).flatMap(({ clusters }) => clusters)
  expect(listClusters(saved, 'pending')).toEqual(expect.arrayContaining(later))
})

test(
  'a rollout that was killed in the third wave continues where it was',
  { timeout: 3_600_000 },
  async () => {
    for (const name of fleetNow().names) await fleetNow().setBroken(name, false)
    const before = await readRun()
    const doneBefore = listClusters(before, 'done')
    const third = before.waves[2]?.clusters ?? []
    const { env, file } = fleetNow()
    const child = spawn(inject('executable'), ['fleet', 'up', '--yes', '--resume', '-f', file], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    })
    const exited = once(child, 'exit')
    await pollUntil(
      'a part of the third wave',
      async () => {
        const { clusters } = await readRun()
        return third.filter((name) => clusters[name]?.state === 'changed').length >= third.length / 3
      },
      { timeoutMs: 3_000_000 },
    )
    child.kill('SIGKILL')
    await exited
    const killed = await readRun()
    expect(killed.state).toBe('running')
    const changedBefore = listClusters(killed, 'done', 'changed')
    expect(changedBefore).toEqual(expect.arrayContaining(doneBefore))
    expect(changedBefore.length).toBeLessThan(size)
    const run = await fleetNow().hyperkube('fleet', 'up', '--yes', '--resume')
    figures.resumed = run
    expect(run.code, run.stderr.slice(-3000)).toBe(0)
    const ended = await readRun()
    expect(listClusters(ended, 'done')).toHaveLength(size)
    expect(listChangeTimes(ended, changedBefore)).toEqual(listChangeTimes(killed, changedBefore))
    expect(run.peakBytes).toBeLessThan(maxPeakBytes)
  },
)

test('a second rollout changes nothing', { timeout: 3_600_000 }, async () => {
  const run = await fleetNow().hyperkube('fleet', 'plan', '--parallel', '4', '-o', 'json')
  figures.plan = run
  const { items } = z
    .object({ items: z.array(z.looseObject({ outcome: z.string() })) })
    .parse(JSON.parse(run.stdout))
  expect(items.filter(({ outcome }) => outcome !== 'unchanged')).toEqual([])
  const { status, stopped, resumed, plan } = figures
  if (status === undefined || stopped === undefined || resumed === undefined || plan === undefined) return
  const [hyperkube = ''] = (await fleetNow().hyperkube('version')).stdout.split('\n')
  const text = formatFleetEvidence({
    ...{ date: new Date(), hyperkube, node: process.version, clusters: size },
    machine: `${availableParallelism()} cores and ${Math.round(totalmem() / 2 ** 30)} GiB`,
    figures: { status, stopped, resumed, plan },
  })
  process.stderr.write(text)
  await writeFile(evidence, text)
})
