import type { Try, WorkerMemory } from './worker-observation.ts'
import { type Step, subjectOf } from './step.ts'
import type { Role } from './worker-spec.ts'

/** How soon a step is taken again that was taken before. */
export interface Pace {
  readonly name: 'usual' | 'seed'
  /** Milliseconds after the first, the second and every further time. */
  readonly pauses: readonly number[]
  /** For starts of some programs instead of those. */
  readonly starts: Readonly<Partial<Record<Role, Starts>>>
  /** After how many starts in vain the way to the API is opened anew. */
  readonly reopensAfter: number | undefined
}

/** So many tries to start a program. */
export interface Starts {
  /** Milliseconds after each of them; after the last one it begins anew. */
  readonly pauses: readonly number[]
  /** How long after the last one it is said that none has helped. */
  readonly givesUpAfter: number
}

/** At once when it was not taken lately, then slower and slower. */
export const usualPace: Pace = {
  name: 'usual',
  pauses: [5000, 10_000, 20_000, 40_000, 80_000, 120_000],
  starts: {},
  reopensAfter: undefined,
}

/** Six tries so many seconds apart; then they are given up until the script would have been run again. */
function sixTries(apart: number): Starts {
  const after = apart * 1000
  return { pauses: [...Array.from({ length: 5 }, () => after), 120_000], givesUpAfter: after }
}

/** As the script that this all began with had it: at three tries left the way to the API is opened anew, at none that is said. */
export const seedPace: Pace = {
  ...usualPace,
  name: 'seed',
  starts: { flanneld: sixTries(20), kubelet: sixTries(15), 'kube-proxy': sixTries(10) },
  reopensAfter: 3,
}

export const paces = { usual: usualPace, seed: seedPace } as const satisfies Record<Pace['name'], Pace>

/** After so long, a step counts as new. */
export const forgetAfter = 600_000

export interface Paced {
  readonly memory: Pick<WorkerMemory, 'tries'>
  readonly pace?: Pace
}

/** When a step may be taken again. */
export function mayTakeAt({ memory, pace = usualPace }: Paced, step: Step): number {
  const former = memory.tries[subjectOf(step)]
  if (former === undefined) return 0
  const own = step.do === 'start' ? pace.starts[step.role]?.pauses : undefined
  const at = own === undefined ? Math.min(former.count, pace.pauses.length) : around(former.count, own.length)
  return former.last + ((own ?? pace.pauses)[at - 1] ?? 0)
}

/** What there is to say once all starts of a row were in vain. */
export function givenUp(
  { memory, pace = usualPace, now }: Paced & { readonly now: number },
  step: Step,
): Step | undefined {
  const own = step.do === 'start' ? pace.starts[step.role] : undefined
  if (step.do !== 'start' || own === undefined) return undefined
  const former = memory.tries[subjectOf(step)]
  if (former === undefined || around(former.count, own.pauses.length) !== own.pauses.length) return undefined
  if (now < former.last + own.givesUpAfter) return undefined
  return onceAfter(memory, former, { do: 'give-up', role: step.role })
}

/** Unless it was taken since. */
function onceAfter(memory: Paced['memory'], { last }: Try, step: Step): Step | undefined {
  return (memory.tries[subjectOf(step)]?.last ?? -1) >= last ? undefined : step
}

/** What comes before a start that was tried in vain so often. */
export function reopened({ memory, pace = usualPace }: Paced, step: Step): Step | undefined {
  const own = step.do === 'start' ? pace.starts[step.role] : undefined
  if (step.do !== 'start' || own === undefined) return undefined
  const former = memory.tries[subjectOf(step)]
  if (former === undefined || around(former.count, own.pauses.length) !== pace.reopensAfter) return undefined
  return onceAfter(memory, former, { do: 'reopen', role: step.role })
}

/** From 1 to so many, again and again. */
function around(count: number, most: number): number {
  return ((count - 1) % most) + 1
}

/** Written down before it is tried: whoever dies over it does not try again at once. */
export function taken(memory: WorkerMemory, step: Step, now: number): WorkerMemory {
  const lately = Object.entries(memory.tries).filter(([, { last }]) => now - last < forgetAfter)
  const tries: Record<string, Try> = Object.fromEntries(lately)
  const subject = subjectOf(step)
  tries[subject] = { count: (tries[subject]?.count ?? 0) + 1, last: now }
  return { ...memory, tries }
}
