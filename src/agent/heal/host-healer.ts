import type { HostHealth } from '../../contract/health.ts'
import { rounds } from '../loop/run-loop.ts'
import { bellFor } from './wakeup.ts'
import { spentOf, usualBudget } from './decision/budget.ts'
import { toldOf } from './decision/probe-record.ts'
import { decide } from './decision/decide.ts'
import type { Hands } from './heal-operations.ts'
import type { Healer } from './healer.ts'
import { idleNow, pauseFor, pauseNow } from './suspension.ts'
import { healOnce, looksEvery, type LoopScene } from './loop.ts'
import { watchHost } from './watch-host.ts'

export interface HealScene extends Omit<LoopScene, 'watch' | 'budget' | 'began'> {
  /** From 0 to 1. */
  readonly random: () => number
  readonly say: (text: string) => void
}

export interface HostHealer extends Healer {
  /** Looks after the host until it shall end. */
  keep(): Promise<void>
}

/** How many of the actions that are remembered are told. */
const told = 50

/** Until the first look, in milliseconds: an agent that has just started answers first. */
const first = 1000

export function hostHealer(scene: HealScene): HostHealer {
  const { host, memory, ladder, signal: end } = scene
  const { clock } = host
  const time = (): number => clock.now().getTime()
  const bell = bellFor(clock)
  const watch = watchHost({ ...scene, changed: () => bell.ring() })
  // What we do ourselves is no reason to do nothing.
  let acting = false
  const hands: Hands = {
    ...scene.hands,
    async perform(plan, step, signal) {
      acting = true
      return scene.hands.perform(plan, step, signal).finally(() => (acting = false))
    },
  }
  const loop: LoopScene = { ...scene, hands, watch, budget: usualBudget, began: time() }

  return {
    async keep() {
      await rounds({
        ...scene,
        look: async () => healOnce(loop, bell.heard()),
        first,
        usual: looksEvery,
        clock: { now: () => clock.now(), pause: async (ms, signal) => bell.pause(ms, signal) },
        signal: end,
      })
    },

    async health(fresh, signal): Promise<HostHealth> {
      const seen = await watch.look(fresh ? 'fresh' : 'usual', signal)
      const idle = acting ? undefined : await idleNow(scene, memory.now)
      const now = time()
      const paused = pauseNow(memory.now, now)
      const { most, within } = loop.budget
      const components = seen?.components ?? []
      return {
        at: new Date(now).toISOString(),
        ...(seen === undefined ? {} : { plan: seen.digest }),
        ladder: ladder.name,
        ...(paused === undefined ? {} : { paused }),
        ...(idle === undefined || paused !== undefined ? {} : { idle: idle.because }),
        budget: { spent: spentOf(memory.now.spent, loop.budget, now).length, most, within },
        components: [...decide({ ...loop, now, components, memory: memory.now, idle }).components],
        probes: (seen?.probes ?? []).map(toldOf),
        actions: memory.now.actions.slice(0, told),
      }
    },

    async pause(milliseconds, by) {
      const paused = await pauseFor(memory, milliseconds, by, time())
      bell.ring()
      return paused
    },
  }
}
