import type { ComponentPlan } from '../../contract/component-plan.ts'
import { isDown, type UnitState } from '../host/systemd.ts'

/** What was seen so far of a service that shall run. Times are in milliseconds. */
export interface Watch {
  readonly unit: string
  readonly begun: number
  /** How long it may end again and again. */
  readonly patience: number
  /** The start that is not the one waited for. */
  readonly former: string | undefined
  /** Starts by systemd itself since it began. */
  readonly again: number
  readonly restarts: number
  /** The start that was seen last, and since when it runs. */
  readonly invocation: string
  readonly since: number
  /** How it has ended the last time, if that was not well: while it starts again, systemd does not say it. */
  readonly end: Pick<UnitState, 'result' | 'status'> | undefined
}

export type Verdict =
  | { readonly is: 'running' }
  | { readonly is: 'waiting'; readonly for: string }
  | { readonly is: 'failed'; readonly how: string }

/** A program that does not tell when it is ready is taken to be, once it has stayed for so long. */
const steady = 1000
/** Some wait for others by ending: it takes this long, and as many ends, until that counts as a failure. */
const leastPatience = 60_000
const mostEnds = 3
/** What systemd ends with when it could not even start the program: 203 is a program that cannot be run. */
const firstOwnStatus = 200

/** The plan's own patience with a component: as long as its probes may fail, and twice that. */
export function patienceWith({ probes }: Pick<ComponentPlan, 'probes'>): number {
  const local = probes.filter(({ scope }) => scope === 'local')
  return Math.max(leastPatience, ...local.map(({ every, failures }) => 2 * every * failures))
}

export function beginWatch(
  unit: string,
  state: UnitState,
  former: string | undefined,
  now: number,
  patience: number,
): Watch {
  const { restarts } = state
  return {
    unit,
    begun: now,
    patience,
    former,
    again: 0,
    restarts,
    invocation: '',
    since: now,
    end: undefined,
  }
}

/** What one more look tells. */
export function watchOn(watch: Watch, state: UnitState, now: number): Watch {
  const { restarts, invocation, active, result, status } = state
  const isSame = invocation === watch.invocation && active === 'active'
  return {
    ...watch,
    // The count begins anew when somebody starts it.
    again: watch.again + Math.max(0, restarts - watch.restarts),
    restarts,
    invocation: active === 'active' ? invocation : '',
    since: isSame ? watch.since : now,
    end: result === 'success' || result === '' ? watch.end : { result, status },
  }
}

export function verdict(watch: Watch, state: UnitState, now: number): Verdict {
  const { unit, former, again, begun, patience, since, end } = watch
  const { active, busy, type, invocation } = state
  const up = active === 'active' && !busy && invocation !== former
  if (up && (type === 'notify' || now - since >= steady)) return { is: 'running' }
  const spent = again >= mostEnds && now - begun >= patience
  const hopeless = again >= 1 && state.result === 'exit-code' && state.status >= firstOwnStatus
  const how = described(state, again, end)
  return isDown(state) || spent || hopeless
    ? { is: 'failed', how }
    : { is: 'waiting', for: `${unit} to run (${how})` }
}

function described({ active, sub }: UnitState, again: number, end: Watch['end']): string {
  const parts = [
    active === sub ? active : `${active}, ${sub}`,
    ...(again === 0 ? [] : [`it has ended ${again === 1 ? 'once' : `${again} times`}`]),
    ...(end === undefined
      ? []
      : [`the last time with ${end.result}${end.status === 0 ? '' : ` ${end.status}`}`]),
  ]
  return parts.join('; ')
}
