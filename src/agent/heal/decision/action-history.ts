import type { HealState } from '../../../contract/heal-state.ts'
import type { HealAction } from '../../../contract/health.ts'
import { elapsed } from './elapsed.ts'

/** How many actions are kept. */
const maxActions = 100

/** How often a refusal that lasts is reported again, in milliseconds. */
const reminderIntervalMs = 24 * 3_600_000

/** Whether this refusal was already reported for the component, and the component has not recovered since. */
export function isReported(
  { actions }: Pick<HealState, 'actions'>,
  component: string,
  code: string,
  now: number,
  maxAgeMs: number = reminderIntervalMs,
): boolean {
  const own = actions.filter((action) => action.component === component)
  const recoveredIndex = own.findIndex(({ action }) => action === 'recovered')
  return own
    .slice(0, recoveredIndex === -1 ? undefined : recoveredIndex)
    .some((one) => one.action === 'refuse' && one.code === code && elapsed(one.at, now) < maxAgeMs)
}

/** Returns the heal state with more actions, the newest first. */
export function recordActions(healState: HealState, actions: readonly HealAction[]): HealState {
  return actions.length === 0
    ? healState
    : { ...healState, actions: [...actions.toReversed(), ...healState.actions].slice(0, maxActions) }
}
