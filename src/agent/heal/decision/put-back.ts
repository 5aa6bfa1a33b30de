import type { HealMemory } from '../../../contract/heal-state.ts'
import { elapsed } from './elapsed.ts'

const [minute, hour] = [60_000, 3_600_000]

/** How often things are put back: now and then; more seldom where somebody seems to be at it. In milliseconds. */
const pace = { every: minute, most: 10, within: hour, later: 10 * minute } as const

export function mayPutBack(
  { actions }: Pick<HealMemory, 'actions'>,
  component: string,
  now: number,
): boolean {
  const ago = actions
    .filter((one) => one.component === component && one.action === 'put-back')
    .map(({ at }) => elapsed(at, now))
  const often = ago.filter((one) => one < pace.within).length >= pace.most
  return ago.every((one) => one >= (often ? pace.later : pace.every))
}
