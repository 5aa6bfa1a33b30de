import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  integer,
  record,
  scheduler,
  type Scheduler,
} from 'fast-check'
import { expect, test } from 'vitest'
import { type ClusterHealth, type FleetRun, resumeRun } from './fleet-run.ts'
import { type RolloutDeps, runRollout } from './run-rollout.ts'
import { buildTestRun } from './testing/fleet-runs.ts'
import { planWaves } from './waves.ts'

type Behaviour = 'good' | 'fails' | 'throws' | 'degrades'

const scenario = record({
  behaviours: array(
    constantFrom<Behaviour[]>('good', 'good', 'good', 'good', 'fails', 'throws', 'degrades'),
    {
      minLength: 1,
      maxLength: 14,
    },
  ),
  parallel: integer({ min: 1, max: 4 }),
  maxFailed: integer({ min: 0, max: 2 }),
  /** The save that fails, as if the process was killed. */
  killedAt: integer({ min: 1, max: 40 }),
})

interface Observation {
  /** Clusters in the order in which their change started. */
  readonly started: string[]
  /** Highest number of clusters that changed at the same time. */
  maxRunning: number
  /** Clusters that started although more had failed than allowed. */
  readonly startedAfterStop: string[]
}

const killed = new Error('killed')

/** Edges of a rollout whose calls end in the order that the scheduler chooses. */
class FakeFleet implements Observation {
  readonly started: string[] = []
  readonly startedAfterStop: string[] = []
  maxRunning = 0
  saved: FleetRun
  #running = 0
  #failed = 0
  #saves = 0
  readonly #schedule: Scheduler
  readonly #behaviours: ReadonlyMap<string, Behaviour>
  readonly #killedAt: number

  constructor(
    run: FleetRun,
    schedule: Scheduler,
    behaviours: ReadonlyMap<string, Behaviour>,
    killedAt = Number.POSITIVE_INFINITY,
  ) {
    this.saved = run
    this.#schedule = schedule
    this.#behaviours = behaviours
    this.#killedAt = killedAt
  }

  deps(signal = new AbortController().signal): RolloutDeps {
    return {
      observe: async (): Promise<ClusterHealth> => this.#schedule.schedule(Promise.resolve('healthy')),
      change: async (cluster) => this.#change(cluster),
      settle: async (cluster) => this.#settle(cluster),
      save: async (run) => this.#save(run),
      pause: async () => undefined,
      report: () => undefined,
      now: () => new Date('2026-11-18T08:00:00Z'),
      signal,
    }
  }

  async #change(cluster: string): ReturnType<RolloutDeps['change']> {
    this.started.push(cluster)
    if (this.#failed > this.saved.maxFailed) this.startedAfterStop.push(cluster)
    this.#running++
    this.maxRunning = Math.max(this.maxRunning, this.#running)
    const behaviour = this.#behaviours.get(cluster) ?? 'good'
    await this.#schedule.schedule(Promise.resolve(), `change ${cluster}`)
    this.#running--
    if (behaviour === 'throws' || behaviour === 'fails') this.#failed++
    if (behaviour === 'throws') throw new Error('crashed')
    return behaviour === 'fails'
      ? { outcome: 'failed', failure: { code: 'TEST', message: 'failed' } }
      : { outcome: 'changed', changes: 1 }
  }

  async #settle(cluster: string): Promise<ClusterHealth> {
    await this.#schedule.schedule(Promise.resolve(), `settle ${cluster}`)
    if (this.#behaviours.get(cluster) !== 'degrades') return 'healthy'
    this.#failed++
    return 'unhealthy'
  }

  async #save(run: FleetRun): Promise<void> {
    await this.#schedule.schedule(Promise.resolve(), 'save')
    this.#saves++
    if (this.#saves >= this.#killedAt) throw killed
    this.saved = run
  }
}

interface Prepared {
  readonly run: FleetRun
  readonly behaviours: ReadonlyMap<string, Behaviour>
}

function prepare(
  behaviours: readonly Behaviour[],
  limits: { parallel: number; maxFailed: number },
): Prepared {
  const clusters = behaviours.map((_, index) => ({ name: `c${String(index).padStart(2, '0')}`, labels: {} }))
  return {
    run: buildTestRun(planWaves(clusters, { waves: [1, '30%', '100%'] }), limits),
    behaviours: new Map(clusters.map(({ name }, index) => [name, behaviours[index] ?? 'good'])),
  }
}

/** Runs a rollout while the scheduler ends calls in any order. Returns undefined if the process was killed. */
async function finish(schedule: Scheduler, rollout: Promise<FleetRun>): Promise<FleetRun | undefined> {
  return schedule.waitFor(
    rollout.catch((error: unknown) => {
      if (error === killed) return undefined
      throw error
    }),
  )
}

test('the limits hold, nothing starts after a stop, and clusters start at most once', async () => {
  await assert(
    asyncProperty(scenario, scheduler(), async ({ behaviours, parallel, maxFailed }, schedule) => {
      const { run, behaviours: byName } = prepare(behaviours, { parallel, maxFailed })
      const fleet = new FakeFleet(run, schedule, byName)
      const ended = await finish(schedule, runRollout(run, fleet.deps()))
      expect(fleet.maxRunning).toBeLessThanOrEqual(parallel)
      expect(fleet.startedAfterStop).toEqual([])
      expect(new Set(fleet.started).size).toBe(fleet.started.length)
      const failures = [...byName.values()].filter((behaviour) => behaviour !== 'good').length
      expect(ended?.state).toBe(failures > maxFailed ? 'stopped' : 'done')
      const missing = [...byName.keys()].filter((name) => !fleet.started.includes(name))
      expect(ended?.state === 'done' ? missing : []).toEqual([])
    }),
  )
})

test('no cluster of a wave starts before all clusters of the previous wave have passed their gate', async () => {
  await assert(
    asyncProperty(scenario, scheduler(), async ({ behaviours, parallel }, schedule) => {
      const { run, behaviours: byName } = prepare(behaviours, { parallel, maxFailed: 0 })
      const fleet = new FakeFleet(run, schedule, byName)
      await finish(schedule, runRollout(run, fleet.deps()))
      const started = new Set(fleet.started)
      const stop = run.waves.findIndex(({ clusters }) => clusters.some((name) => byName.get(name) !== 'good'))
      if (stop === -1) return
      for (const { clusters } of run.waves.slice(stop + 1))
        expect(clusters.filter((name) => started.has(name))).toEqual([])
    }),
  )
})

test('a killed rollout continues where it was: changed clusters are not changed again, all others are', async () => {
  await assert(
    asyncProperty(scenario, scheduler(), async ({ behaviours, parallel, killedAt }, schedule) => {
      const { run, behaviours: byName } = prepare(
        behaviours.map(() => 'good' as const),
        { parallel, maxFailed: 0 },
      )
      const first = new FakeFleet(run, schedule, byName, killedAt)
      await finish(schedule, runRollout(run, first.deps()))
      const saved = structuredClone(first.saved)
      const changed = Object.entries(saved.clusters).flatMap(([name, { state }]) =>
        state === 'changed' || state === 'done' ? [name] : [],
      )
      const resumed = resumeRun(saved, 'me@here (process 2)')
      const second = new FakeFleet(resumed, schedule, byName)
      const ended = await finish(schedule, runRollout(resumed, second.deps()))
      expect(ended?.state).toBe('done')
      expect([...changed, ...second.started].toSorted()).toEqual([...byName.keys()])
    }),
    // Two of 100 kills hit a cluster while the loop waits for something else.
    { numRuns: 400 },
  )
})

test('a stopped rollout that was fixed continues with the failed clusters and those that were never started', async () => {
  await assert(
    asyncProperty(scenario, scheduler(), async ({ behaviours, parallel }, schedule) => {
      const { run, behaviours: byName } = prepare(behaviours, { parallel, maxFailed: 0 })
      const first = new FakeFleet(run, schedule, byName)
      const stopped = await finish(schedule, runRollout(run, first.deps()))
      if (stopped?.state !== 'stopped') return
      const good = new Set(
        Object.entries(stopped.clusters).flatMap(([name, { state }]) =>
          state === 'changed' || state === 'done' ? [name] : [],
        ),
      )
      const second = new FakeFleet(stopped, schedule, new Map())
      const ended = await finish(
        schedule,
        runRollout(resumeRun(stopped, 'me@here (process 2)'), second.deps()),
      )
      expect(ended?.state).toBe('done')
      expect(second.started.filter((name) => good.has(name))).toEqual([])
      expect([...good, ...second.started].toSorted()).toEqual([...byName.keys()])
    }),
  )
})

test('an interrupt starts nothing more, and waits for what runs', async () => {
  await assert(
    asyncProperty(
      scenario,
      scheduler(),
      integer({ min: 0, max: 5 }),
      async ({ behaviours, parallel }, schedule, after) => {
        const { run, behaviours: byName } = prepare(
          behaviours.map(() => 'good' as const),
          { parallel, maxFailed: 0 },
        )
        const fleet = new FakeFleet(run, schedule, byName)
        const interrupt = new AbortController()
        const deps = fleet.deps(interrupt.signal)
        let startedBefore = Number.POSITIVE_INFINITY
        const ended = await finish(
          schedule,
          runRollout(run, {
            ...deps,
            async change(cluster) {
              if (fleet.started.length >= after && !interrupt.signal.aborted) {
                interrupt.abort()
                startedBefore = fleet.started.length + parallel
              }
              return deps.change(cluster)
            },
          }),
        )
        expect(fleet.started.length).toBeLessThanOrEqual(startedBefore)
        expect(Object.values(ended?.clusters ?? {}).filter(({ state }) => state === 'running')).toEqual([])
      },
    ),
  )
})
