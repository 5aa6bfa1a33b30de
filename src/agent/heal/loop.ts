import type { HealMemory } from '../../contract/heal-state.ts'
import type { HealAction } from '../../contract/health.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { describe } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { LinuxHost } from '../host/host.ts'
import type { TakenScene } from '../loop/is-locked-by-other.ts'
import type { Look } from '../loop/run-loop.ts'
import type { Runs } from '../runs/runs.ts'
import { type Budget } from './decision/budget.ts'
import { decide } from './decision/decide.ts'
import type { Ladder } from './decision/escalation-policy.ts'
import type { HealStep } from './decision/heal-step.ts'
import { remembered } from './decision/action-history.ts'
import type { Hands } from './heal-operations.ts'
import { idleNow } from './suspension.ts'
import type { KeptMemory } from './heal-state-store.ts'
import type { HostWatch } from './watch-host.ts'

/** How often there is a look though nothing has happened, in milliseconds. */
export const looksEvery = 5000

export interface LoopScene extends TakenScene {
  readonly host: LinuxHost
  readonly runs: Pick<Runs, 'busy'>
  readonly hands: Hands
  readonly watch: HostWatch
  readonly memory: KeptMemory
  readonly ladder: Ladder
  readonly budget: Budget
  /** Since when somebody looks: milliseconds since 1970. */
  readonly began: number
  readonly signal: AbortSignal
}

/** Looks once, and does what is to be done. With `news` something is known to have changed. */
export async function healOnce(scene: LoopScene, news: boolean): Promise<Look> {
  const { host, hands, watch, memory, signal } = scene
  const seen = await watch.look(news ? 'news' : 'usual', signal)
  if (seen === undefined) return { next: looksEvery, troubles: [] }
  const { plan, digest, components } = seen
  const troubles: unknown[] = []
  // A disk that takes nothing may be what is wrong: what is at hand counts all the same.
  const keep = async (next: (before: HealMemory) => HealMemory): Promise<void> =>
    memory.change(next).catch((error: unknown) => void troubles.push(error))
  await keep((before) => (before.plan === digest ? before : { ...before, plan: digest, climbs: {} }))
  const idle = await idleNow(scene, memory.now)
  const now = host.clock.now().getTime()
  const { steps, words, memory: next } = decide({ ...scene, now, components, memory: memory.now, idle })
  // Before anything is done: an agent that dies over it is not to begin anew.
  await keep(() => next)
  for (const word of words) hands.tell(word)
  for (const step of steps) {
    // Whoever has come in between, or has paused it, is not worked against. Runs of our own wait for each other.
    if ((await idleNow({ ...scene, runs: { busy: false } }, memory.now)) !== undefined) break
    const actions = await performed(scene, plan, step)
    watch.forget()
    for (const action of actions) hands.tell(action)
    await keep((before) => remembered(before, actions))
  }
  return { next: looksEvery, troubles }
}

async function performed(
  { host, hands, signal }: LoopScene,
  plan: NodePlan,
  step: HealStep,
): Promise<readonly HealAction[]> {
  try {
    return await hands.perform(plan, step, signal)
  } catch (error) {
    signal.throwIfAborted()
    const { component, because, code } = step
    const at = host.clock.now().toISOString()
    const came = { outcome: 'failed', details: [printable(describe(error))] } as const
    const why = { because, ...(code === undefined ? {} : { code }) }
    return step.actions.map((action) => ({
      at,
      component,
      action,
      ...why,
      ...came,
      details: [...came.details],
    }))
  }
}
