import type { HealMemory } from '../../../contract/heal-state.ts'
import type { HealAction } from '../../../contract/health.ts'
import { elapsed } from './elapsed.ts'

/** How many actions are remembered. */
const kept = 100

/** Not more often than this, as long as it lasts; in milliseconds. */
const remindsAfter = 24 * 3_600_000

/** Whether it was said of a component that this is refused, and it has not been well since. */
export function isTold(
  { actions }: Pick<HealMemory, 'actions'>,
  component: string,
  code: string,
  now: number,
  within: number = remindsAfter,
): boolean {
  const own = actions.filter((action) => action.component === component)
  const wellAgain = own.findIndex(({ action }) => action === 'recovered')
  return own
    .slice(0, wellAgain === -1 ? undefined : wellAgain)
    .some((one) => one.action === 'refuse' && one.code === code && elapsed(one.at, now) < within)
}

/** With something that was done, or said, since. */
export function remembered(memory: HealMemory, actions: readonly HealAction[]): HealMemory {
  return actions.length === 0
    ? memory
    : { ...memory, actions: [...actions.toReversed(), ...memory.actions].slice(0, kept) }
}
