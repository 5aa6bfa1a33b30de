import type { Event } from '../contract/event.ts'
import { describe, HyperkubeError } from '../kit/errors.ts'

export type What = Event['what']
export type Outcome = Extract<What, { type: 'run-ended' }>['result']
export type Failure = Extract<Outcome, { outcome: 'failed' }>['failure']

/** Whom an event is about. */
export interface About {
  readonly host?: string
  readonly component?: string
}

/** Tells of what happens, to whoever shows it and keeps it. */
export type Tell = (what: What, about?: About) => void

/** One run of a command as a stream of events, counted from 1. */
export function eventStream(
  run: string,
  now: () => Date,
  listeners: readonly ((event: Event) => void)[],
): Tell {
  let sequence = 0
  return (what, { host, component } = {}) => {
    sequence++
    const event: Event = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'Event',
      run,
      sequence,
      time: now().toISOString(),
      ...(host === undefined ? {} : { host }),
      ...(component === undefined ? {} : { component }),
      what,
    }
    for (const listener of listeners) listener(event)
  }
}

/** What is told of an error: of several at once the first lends its code. */
export function failureOf(error: unknown): Failure {
  const [first] = errorsIn(error)
  const known = first instanceof HyperkubeError ? first : undefined
  return {
    code: known?.code ?? 'UNEXPECTED',
    message: describe(error),
    ...(known?.hint === undefined ? {} : { hint: known.hint }),
  }
}

/** The single ones, where several happened at once. */
export function errorsIn(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? error.errors.flatMap(errorsIn) : [error]
}

/** Does a step, or what one host has to do in it, and tells how it ended. */
export async function toldStep<T>(
  { tell, signal }: { readonly tell: Tell; readonly signal: AbortSignal },
  { step, host }: { readonly step: string; readonly host?: string },
  work: () => Promise<T>,
): Promise<T> {
  const about = host === undefined ? {} : { host }
  try {
    const result = await work()
    tell({ type: 'step-ended', step, result: { outcome: 'done' } }, about)
    return result
  } catch (error) {
    // Only then was it cut off by us; hosts may well fail by themselves while we wait for them to finish.
    const interrupted = signal.aborted && error === signal.reason
    const result: Outcome = interrupted
      ? { outcome: 'interrupted' }
      : { outcome: 'failed', failure: failureOf(error) }
    tell({ type: 'step-ended', step, result }, about)
    throw error
  }
}

/** Something that takes no host further, as a step of its own: it is planned, done and told of at once. */
export async function toldAside<T>(
  options: { readonly tell: Tell; readonly signal: AbortSignal },
  planned: { readonly step: string; readonly title: string; readonly hosts: readonly string[] },
  work: () => Promise<T>,
): Promise<T> {
  const { step, title, hosts } = planned
  options.tell({ type: 'steps-planned', steps: [{ step, title, hosts: [...hosts] }] })
  options.tell({ type: 'step-started', step })
  return toldStep(options, { step }, work)
}
