import type { Event } from '../../src/contract/event.ts'
import type { Op } from '../../src/contract/op.ts'
import { stages } from '../../src/contract/stage.ts'
import type { PlanDocument } from '../../src/lifecycle/plan-document.ts'
import { inWords } from './journal.ts'

/** What a run of `up` goes through, and how many of its events tell of each part. */
export type Course = readonly { readonly phase: string; readonly events: number }[]

/** An event to wait for: so many of a phase have been told then. */
export interface Moment {
  readonly phase: string
  readonly nth: number
}

/** Foreseen from a plan: hosts begin and end each op, and what is around them begins. */
export function courseOf({ ops }: Pick<PlanDocument, 'ops'>): Course {
  const all = Object.values(ops).flat()
  const early = new Set(['prepare', 'etcd', 'api'])
  const course = [
    { phase: 'reach', events: Object.keys(ops).length },
    { phase: 'look', events: 1 },
    { phase: 'certificates', events: 1 },
    ...stages.map((stage) => ({ phase: stage, events: 2 * opsIn(all, stage) })),
    { phase: 'objects', events: 1 },
    { phase: 'nodes', events: 1 },
    // That it begins, and that pods are waited for.
    { phase: 'verify', events: all.some(({ stage }) => !early.has(stage)) ? 2 : 0 },
  ]
  return course.filter(({ events }) => events > 0)
}

function opsIn(ops: readonly Op[], stage: string): number {
  return ops.filter((op) => op.stage === stage).length
}

/** A stage is twice as likely as what is around it, however many events tell of it: long waits have few of them. */
export function momentAt(course: Course, point: number): Moment {
  const parts = course.flatMap((part) => (isStage(part.phase) ? [part, part] : [part]))
  const place = point * parts.length
  const at = parts[Math.floor(place)]
  if (at === undefined) throw new Error(`nothing is at ${point} of a course of ${course.length} phases`)
  return { phase: at.phase, nth: 1 + Math.floor((place % 1) * at.events) }
}

function isStage(phase: string): boolean {
  return stages.some((stage) => stage === phase)
}

/** Whether an event is the one, of all that a run tells one after the other. */
export function isAt({ phase, nth }: Moment): (event: Event) => boolean {
  let step = ''
  let told = 0
  return ({ what, host }) => {
    if (what.type === 'step-started' && host === undefined) step = what.step
    if (phaseOf({ what, host }, step) !== phase) return false
    told++
    return told === nth
  }
}

function phaseOf({ what, host }: Pick<Event, 'what' | 'host'>, step: string): string | undefined {
  switch (what.type) {
    case 'op-started':
    case 'op-ended':
      return what.op.stage
    case 'step-started':
      // Of hosts only that somebody has logged in to them: the way as a whole begins before.
      return (host === undefined) === (what.step === 'reach') ? undefined : what.step
    case 'waiting':
      return step === 'verify' ? step : undefined
    default:
      return undefined
  }
}

/** For people: etcd 12: op-started etcd etcd: start service etcd.service on cp2. */
export function describeMoment({ phase, nth }: Moment, { what, host }: Event): string {
  const about = 'op' in what ? ` ${inWords(what.op)}` : 'step' in what ? ` ${what.step}` : ''
  return `${phase} ${nth}: ${what.type}${about}${host === undefined ? '' : ` on ${host}`}`
}
