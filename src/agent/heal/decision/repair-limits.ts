import type { HealState } from '../../../contract/health.ts'
import { elapsed } from './elapsed.ts'

const [minute, hour] = [60_000, 3_600_000]

/**
 * Limits of drift repairs. After `max` repairs within `windowMs`, repairs are at least `slowIntervalMs`
 * apart, because something else keeps changing the resource.
 */
const repairLimits = { intervalMs: minute, max: 10, windowMs: hour, slowIntervalMs: 10 * minute } as const

/** True if a component may be repaired now. */
export function canRepair({ actions }: Pick<HealState, 'actions'>, component: string, now: number): boolean {
  const ages = actions
    .filter((one) => one.component === component && one.action === 'repair')
    .map(({ at }) => elapsed(at, now))
  const isFrequent = ages.filter((one) => one < repairLimits.windowMs).length >= repairLimits.max
  return ages.every((one) => one >= (isFrequent ? repairLimits.slowIntervalMs : repairLimits.intervalMs))
}
