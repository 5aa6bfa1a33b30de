import { stages } from '../../src/contract/component-plan.ts'
import type { Event } from '../../src/contract/event.ts'
import type { Op } from '../../src/contract/op.ts'
import type { PlanDocument } from '../../src/lifecycle/proposal/plan-approval.ts'
import { formatOp } from './journal.ts'

/** Phases of a run of `up`, with the number of events of each. */
export type UpPhases = readonly { readonly phase: string; readonly events: number }[]

/** The nth event of a phase. */
export interface PhaseEvent {
  readonly phase: string
  readonly nth: number
}

/**
 * Predicts the phases of `up` from a plan. Each op has a start and an end event; most other phases have one
 * event.
 */
export function listUpPhases({ ops }: Pick<PlanDocument, 'ops'>): UpPhases {
  const all = Object.values(ops).flat()
  const early = new Set(['prepare', 'etcd', 'api'])
  const phases = [
    { phase: 'reach', events: Object.keys(ops).length },
    { phase: 'observe', events: 1 },
    { phase: 'certificates', events: 1 },
    ...stages.map((stage) => ({ phase: stage, events: 2 * countOps(all, stage) })),
    { phase: 'objects', events: 1 },
    { phase: 'nodes', events: 1 },
    // The phase has two events: its start and the wait for pods.
    { phase: 'verify', events: all.some(({ stage }) => !early.has(stage)) ? 2 : 0 },
  ]
  return phases.filter(({ events }) => events > 0)
}

function countOps(ops: readonly Op[], stage: string): number {
  return ops.filter((op) => op.stage === stage).length
}

/**
 * Selects an event by a point from 0 to 1. Stages get twice the share of other phases, independent of their
 * number of events.
 */
export function selectPhaseEvent(phases: UpPhases, point: number): PhaseEvent {
  const parts = phases.flatMap((part) => (isStage(part.phase) ? [part, part] : [part]))
  const position = point * parts.length
  const selected = parts[Math.floor(position)]
  if (selected === undefined) throw new Error(`nothing is at ${point} of a course of ${phases.length} phases`)
  return { phase: selected.phase, nth: 1 + Math.floor((position % 1) * selected.events) }
}

function isStage(phase: string): boolean {
  return stages.some((stage) => stage === phase)
}

/**
 * Returns a predicate that is true for the selected event. It counts events, so it must be called with all
 * events of a run in order.
 */
export function createPhaseMatcher({ phase, nth }: PhaseEvent): (event: Event) => boolean {
  let step = ''
  let count = 0
  return ({ body, host }) => {
    if (body.type === 'step-started' && host === undefined) step = body.step
    if (findPhase({ body, host }, step) !== phase) return false
    count++
    return count === nth
  }
}

function findPhase({ body, host }: Pick<Event, 'body' | 'host'>, step: string): string | undefined {
  switch (body.type) {
    case 'op-started':
    case 'op-ended':
      return body.op.stage
    case 'step-started':
      // `reach` is the ssh login. The run itself also starts a step `reach`, but before any login, so only
      // the `reach` steps of hosts are a phase. All other steps are phases only if the run itself starts
      // them.
      return (host === undefined) === (body.step === 'reach') ? undefined : body.step
    case 'waiting':
      return step === 'verify' ? step : undefined
    default:
      return undefined
  }
}

/**
 * Formats an event as phase, number, type, op and host, for example `node 12: op-started node kubelet: start
 * service kubelet.service on w1`.
 */
export function formatPhaseEvent({ phase, nth }: PhaseEvent, { body, host }: Event): string {
  const detail = 'op' in body ? ` ${formatOp(body.op)}` : 'step' in body ? ` ${body.step}` : ''
  return `${phase} ${nth}: ${body.type}${detail}${host === undefined ? '' : ` on ${host}`}`
}
