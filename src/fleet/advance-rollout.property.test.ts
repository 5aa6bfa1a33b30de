import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { advanceRollout, type ClusterReport, startRollout } from './advance-rollout.ts'
import { type RolloutSpec, rolloutSpec, type RolloutStatus, rolloutStatus } from './rollout-resource.ts'

const start = new Date('2026-11-18T08:00:00.000Z')

/** A fleet that follows permissions. `fails` and `degrades` name the clusters with a planted fault. */
class SimulatedFleet {
  readonly reports: Map<string, ClusterReport>
  readonly fails: Set<string>
  readonly degrades: Set<string>
  status: RolloutStatus
  spec: RolloutSpec
  approvedWaves = new Set<number>()
  now = start

  constructor(
    count: number,
    spec: Partial<RolloutSpec> = {},
    faults: Partial<Pick<SimulatedFleet, 'fails' | 'degrades'>> = {},
  ) {
    const names = Array.from({ length: count }, (_, index) => `c${String(index).padStart(3, '0')}`)
    this.reports = new Map(
      names.map((name) => [
        name,
        {
          ...{ name, labels: { name }, desired: 2, permitted: undefined, applied: 1, failed: undefined },
          health: 'healthy',
        },
      ]),
    )
    this.fails = faults.fails ?? new Set()
    this.degrades = faults.degrades ?? new Set()
    this.spec = { ...rolloutSpec.parse({ clusterSet: 'all' }), ...spec }
    this.status = startRollout(this.spec, [...this.reports.values()], start)
  }

  change(name: string, patch: Partial<ClusterReport>): void {
    const report = this.reports.get(name)
    if (report !== undefined) this.reports.set(name, { ...report, ...patch })
  }

  /** One reconciliation. Returns the names of the clusters that got a permission. */
  advance(): readonly string[] {
    const { spec, reports, approvedWaves, now } = this
    const { status, permits } = advanceRollout(this.status, { spec, reports, approvedWaves, now })
    this.status = rolloutStatus.parse(JSON.parse(JSON.stringify(status)))
    for (const { cluster, generation } of permits)
      this.change(cluster, { permitted: { generation, rollout: 'r' } })
    return permits.map(({ cluster }) => cluster)
  }

  /** A permitted cluster applies its document. */
  apply(name: string): void {
    const report = this.reports.get(name)
    if (report?.permitted === undefined || report.permitted.generation !== report.desired) return
    const { generation } = report.permitted
    const failed = { generation, at: this.now.toISOString(), code: 'ADDON_NOT_READY', message: 'planted' }
    if (this.fails.has(name)) this.change(name, { failed })
    else this.change(name, { applied: generation, health: this.degrades.has(name) ? 'degraded' : 'healthy' })
  }

  /** Advances until nothing happens any more. */
  finish(): void {
    for (let round = 0; round < 200; round++) {
      const before = this.status
      for (const name of this.advance()) this.apply(name)
      this.now = new Date(this.now.getTime() + 60_000)
      if (this.status === before || this.status.state === 'done' || this.status.state === 'stopped') return
      if (this.status.state === 'waiting' && this.spec.pauseSeconds === 0) return
    }
    throw new Error('the rollout does not end')
  }

  listApplied(): string[] {
    return [...this.reports.values()].filter(({ applied }) => applied === 2).map(({ name }) => name)
  }
}

const faulty = fc.record({
  count: fc.integer({ min: 1, max: 30 }),
  parallel: fc.integer({ min: 1, max: 8 }),
  maxFailed: fc.integer({ min: 0, max: 3 }),
  bad: fc.uniqueArray(fc.integer({ min: 0, max: 29 }), { maxLength: 6 }),
  isDegrading: fc.boolean(),
})

test('no cluster of a wave is permitted before all earlier waves have passed, and the limits hold', () => {
  fc.assert(
    fc.property(faulty, ({ count, parallel, maxFailed, bad, isDegrading }) => {
      const names = new Set(bad.map((index) => `c${String(index).padStart(3, '0')}`))
      const fleet = new SimulatedFleet(
        count,
        { parallel, maxFailed },
        isDegrading ? { degrades: names } : { fails: names },
      )
      for (let round = 0; round < 300 && fleet.status.state === 'running'; round++) {
        const permitted = fleet.advance()
        const { clusters, waves } = fleet.status
        const running = Object.values(clusters).filter(({ state }) => state === 'running')
        expect(running.length).toBeLessThanOrEqual(parallel)
        for (const name of permitted) {
          const wave = waves.findIndex((one) => one.clusters.includes(name))
          const earlier = waves.slice(0, wave).flatMap((one) => one.clusters)
          for (const one of earlier) expect(clusters[one]?.state).toMatch(/^(done|failed|degraded)$/)
        }
        for (const name of permitted) fleet.apply(name)
        fleet.now = new Date(fleet.now.getTime() + 60_000)
      }
      const states = Object.values(fleet.status.clusters).map(({ state }) => state)
      const failedCount = states.filter((state) => state === 'failed' || state === 'degraded').length
      expect(fleet.status.state).toBe(failedCount > maxFailed ? 'stopped' : 'done')
      expect(fleet.status.state === 'done' && states.includes('pending')).toBe(false)
      // A wave that stops the rollout is the last one that was permitted.
      const last = fleet.status.waves.findLastIndex(({ clusters }) =>
        clusters.some((name) => fleet.reports.get(name)?.permitted !== undefined),
      )
      const allowed = fleet.status.waves.slice(0, last + 1).flatMap(({ clusters }) => clusters)
      for (const name of fleet.listApplied()) expect(allowed).toContain(name)
    }),
  )
})

test('a failure in wave 2 stops the rollout; a higher attempt continues after the fix', () => {
  const fleet = new SimulatedFleet(10, { waves: [1, 3, '100%'] }, { fails: new Set(['c002']) })
  fleet.finish()
  expect(fleet.status).toMatchObject({ state: 'stopped', message: 'c002: ADDON_NOT_READY: planted' })
  expect(fleet.listApplied()).toEqual(['c000', 'c001'])
  fleet.finish()
  expect(fleet.listApplied()).toEqual(['c000', 'c001'])
  fleet.fails.clear()
  fleet.change('c002', { desired: 2, failed: undefined })
  fleet.apply('c002')
  fleet.spec = { ...fleet.spec, attempt: 2 }
  fleet.finish()
  expect(fleet.status.state).toBe('done')
  expect(fleet.listApplied()).toHaveLength(10)
})

test('each wave waits for its approval', () => {
  const fleet = new SimulatedFleet(3, { waves: [1, '100%'], approval: 'each-wave' })
  fleet.finish()
  expect(fleet.status).toMatchObject({ state: 'waiting', message: 'wave 1 of 2 needs an Approval' })
  expect(fleet.listApplied()).toEqual([])
  fleet.approvedWaves = new Set([1])
  fleet.finish()
  expect(fleet.status).toMatchObject({ state: 'waiting', message: 'wave 2 of 2 needs an Approval' })
  expect(fleet.listApplied()).toEqual(['c000'])
  fleet.approvedWaves = new Set([1, 2])
  fleet.finish()
  expect(fleet.status.state).toBe('done')
})

test('the pause is between two waves', () => {
  const fleet = new SimulatedFleet(2, { waves: [1, '100%'], pauseSeconds: 300 })
  for (const name of fleet.advance()) fleet.apply(name)
  expect(fleet.advance()).toEqual([])
  expect(fleet.status).toMatchObject({ state: 'waiting', message: 'wave 2 of 2 starts after the pause' })
  fleet.now = new Date(fleet.now.getTime() + 300_000)
  expect(fleet.advance()).toEqual(['c001'])
})

test('a cluster that does not report fails after the timeout', () => {
  const fleet = new SimulatedFleet(2, { waves: [1, '100%'], timeoutSeconds: 600 })
  fleet.advance()
  fleet.now = new Date(fleet.now.getTime() + 599_000)
  fleet.advance()
  expect(fleet.status.state).toBe('running')
  fleet.now = new Date(fleet.now.getTime() + 2000)
  fleet.advance()
  expect(fleet.status).toMatchObject({
    state: 'stopped',
    clusters: { c000: { failure: { code: 'FLEET_CLUSTER_SILENT' } } },
  })
})

test.each([
  ['was deleted', undefined, 'FLEET_NOT_JOINED'],
  ['has no document', { desired: undefined }, 'FLEET_DOCUMENT_MISSING'],
])('a cluster that %s fails', (_, patch, code) => {
  const fleet = new SimulatedFleet(1)
  if (patch === undefined) fleet.reports.delete('c000')
  else fleet.change('c000', patch)
  fleet.finish()
  expect(fleet.status.clusters['c000']?.failure?.code).toBe(code)
})

test('a document that is replaced during the change fails the cluster', () => {
  const fleet = new SimulatedFleet(1)
  fleet.advance()
  fleet.change('c000', { desired: 3 })
  fleet.advance()
  expect(fleet.status.clusters['c000']?.failure?.code).toBe('FLEET_DOCUMENT_REPLACED')
})

test('a document that is published after the rollout began stops it before a later wave; an attempt accepts it', () => {
  const fleet = new SimulatedFleet(3, { waves: [1, '100%'] })
  for (const name of fleet.advance()) fleet.apply(name)
  fleet.change('c001', { desired: 3 })
  fleet.finish()
  expect(fleet.status.state).toBe('stopped')
  expect(fleet.status.clusters['c001']?.failure?.code).toBe('FLEET_DOCUMENT_REPLACED')
  expect(fleet.reports.get('c001')?.permitted).toBeUndefined()
  fleet.spec = { ...fleet.spec, attempt: 2 }
  fleet.finish()
  expect(fleet.status.state).toBe('done')
  expect(fleet.reports.get('c001')?.applied).toBe(3)
})

test('a report that is older than the begin of the rollout does not fail the cluster', () => {
  const fleet = new SimulatedFleet(1)
  fleet.change('c000', { desired: 1 })
  expect(fleet.advance()).toEqual(['c000'])
  expect(fleet.advance()).toEqual([])
  fleet.change('c000', { desired: 2 })
  fleet.apply('c000')
  fleet.finish()
  expect(fleet.status.state).toBe('done')
  expect(fleet.reports.get('c000')?.applied).toBe(2)
})

test('long failures of clusters do not make the status of the rollout too large to be stored', () => {
  const count = 1000
  const fleet = new SimulatedFleet(count, { parallel: count, maxFailed: count, waves: ['100%'] })
  fleet.advance()
  const text = 'x'.repeat(2000)
  const failed = {
    generation: 2,
    at: start.toISOString(),
    code: 'ADDON_NOT_READY',
    message: text,
    hint: text,
  }
  for (const name of fleet.reports.keys()) fleet.change(name, { failed })
  fleet.advance()
  expect(fleet.status.clusters['c000']?.failure?.message).toMatch(/^x+…$/)
  expect(JSON.stringify(fleet.status).length / count).toBeLessThan(1000)
})

test('a lost patch is sent again, and an unchanged rollout is not written', () => {
  const fleet = new SimulatedFleet(1)
  expect(fleet.advance()).toEqual(['c000'])
  fleet.change('c000', { permitted: undefined })
  const { spec, reports, approvedWaves, now, status: before } = fleet
  const again = advanceRollout(before, { spec, reports, approvedWaves, now })
  expect(again.permits).toEqual([{ cluster: 'c000', generation: 2 }])
  expect(again.status).toBe(before)
})
