import type { HostHealth } from '../../contract/health.ts'
import { runLoop } from '../loop/run-loop.ts'
import { createWakeup } from './wakeup.ts'
import { filterRecentDisruptions, defaultHealBudget } from './decision/budget.ts'
import { toProbeHealth } from './decision/probe-record.ts'
import { decideHealing } from './decision/decide.ts'
import type { HealOperations } from './heal-operations.ts'
import type { Healer } from './healer.ts'
import { findSuspension, setPause, findActivePause } from './suspension.ts'
import { healOnce, healIntervalMs, type HealLoopDeps } from './loop.ts'
import { watchHost } from './watch-host.ts'

export interface HostHealerDeps extends Omit<HealLoopDeps, 'watch' | 'budget' | 'observedSince'> {
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  readonly log: (text: string) => void
}

export interface HostHealer extends Healer {
  /** Heals the host until the signal aborts. */
  run(): Promise<void>
}

/** Maximum number of actions in a health report. */
const maxReportedActions = 50

/** Milliseconds until the first round, so a starting agent can first answer requests. */
const firstDelayMs = 1000

export function createHostHealer(deps: HostHealerDeps): HostHealer {
  const { host, stateStore, policy, signal: end } = deps
  const { clock } = host
  const time = (): number => clock.now().getTime()
  const wakeup = createWakeup(clock)
  const watch = watchHost({ ...deps, onChange: () => wakeup.wake() })
  // True during the healer's own run, which must not suspend healing.
  let acting = false
  const operations: HealOperations = {
    ...deps.operations,
    async perform(plan, step, signal) {
      acting = true
      return deps.operations.perform(plan, step, signal).finally(() => (acting = false))
    },
  }
  const loopDeps: HealLoopDeps = {
    ...deps,
    operations,
    watch,
    budget: defaultHealBudget,
    observedSince: time(),
  }

  return {
    async run() {
      await runLoop({
        ...deps,
        tick: async () => healOnce(loopDeps, wakeup.consume()),
        firstMs: firstDelayMs,
        retryMs: healIntervalMs,
        clock: { now: () => clock.now(), pause: async (ms, signal) => wakeup.pause(ms, signal) },
        signal: end,
      })
    },

    async health(fresh, signal): Promise<HostHealth> {
      const observed = await watch.observe(fresh ? 'fresh' : 'usual', signal)
      const suspended = acting ? undefined : await findSuspension(deps, stateStore.current)
      const now = time()
      const paused = findActivePause(stateStore.current, now)
      const { max, windowMs } = loopDeps.budget
      const components = observed?.components ?? []
      return {
        at: new Date(now).toISOString(),
        ...(observed === undefined ? {} : { plan: observed.digest }),
        healPolicy: policy.name,
        ...(paused === undefined ? {} : { paused }),
        ...(suspended === undefined || paused !== undefined ? {} : { suspended: suspended.because }),
        budget: {
          used: filterRecentDisruptions(stateStore.current.disruptions, loopDeps.budget, now).length,
          max,
          windowMs,
        },
        components: [
          ...decideHealing({ ...loopDeps, now, components, healState: stateStore.current, suspended })
            .components,
        ],
        probes: (observed?.probes ?? []).map(toProbeHealth),
        actions: stateStore.current.actions.slice(0, maxReportedActions),
      }
    },

    async pause(milliseconds, by) {
      const paused = await setPause(stateStore, milliseconds, by, time())
      wakeup.wake()
      return paused
    },
  }
}
