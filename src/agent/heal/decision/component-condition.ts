import { type ComponentSeen, localProbes } from './component-observation.ts'
import { downFor } from './unit-observation.ts'

/** How a component is, by what itself says. What others say of the world is not asked. */
export type Condition =
  | { readonly state: 'well' }
  /** Nobody knows, or not yet. */
  | { readonly state: 'unsure' }
  | { readonly state: 'unwell'; readonly because: string; readonly code?: string; readonly since: number }

/** How long a service may be down, in milliseconds: whoever restarts one stops it first. */
const downAtMost = 10_000

export function conditionOf(seen: ComponentSeen, now: number): Condition {
  const { unit } = seen
  const local = localProbes(seen)
  const areWell = local.length > 0 && local.every(({ state }) => state === 'well')
  // What answers in its place was started by a person, who will know why.
  if (unit !== undefined && !areWell && local.length > 0 && downFor(unit, now) >= downAtMost) {
    const because = `its service is ${unit.state.active}${unit.state.result === 'success' ? '' : `, ${unit.state.result}`}`
    return { state: 'unwell', because, code: 'HEALTH_NOT_RUNNING', since: unit.changed }
  }
  const failing = local.find(({ state }) => state === 'failing')
  if (failing !== undefined) {
    const { probe, seen: what, code, since } = failing
    return {
      state: 'unwell',
      because: what === undefined ? `${probe} fails` : `${probe}: ${what}`,
      ...(code === undefined ? {} : { code }),
      since: Date.parse(since),
    }
  }
  // A service that says itself that it is well need not have told the supervisor: etcd waits for the others with that.
  if (areWell) return { state: 'well' }
  const runs = unit === undefined || unit.state.active === 'active'
  return { state: local.length === 0 && runs ? 'well' : 'unsure' }
}

/** Whether it has said that it is well since its service was started. */
export function isWellInThisLife(seen: ComponentSeen): boolean {
  const { unit } = seen
  const local = localProbes(seen)
  return (
    unit !== undefined &&
    local.length > 0 &&
    local.every(({ state, asked = 0 }) => state === 'well' && asked > unit.started)
  )
}
