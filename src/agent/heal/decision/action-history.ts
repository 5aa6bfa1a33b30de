import type { HealState } from '../../../contract/heal-state.ts'
import type { HealAction } from '../../../contract/health.ts'
import { elapsed } from './elapsed.ts'

/** Maximum number of stored actions. */
const maxActions = 100

/** Milliseconds after which a continuing refusal is reported again. */
const reminderIntervalMs = 24 * 3_600_000

/** True if this refusal was reported recently and the component has not recovered since. */
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

/** Adds actions to the heal state, newest first. */
export function recordActions(healState: HealState, actions: readonly HealAction[]): HealState {
  return actions.length === 0
    ? healState
    : { ...healState, actions: [...actions.toReversed(), ...healState.actions].slice(0, maxActions) }
}
