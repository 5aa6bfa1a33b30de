import type { Event } from '../../contract/event.ts'
import { formatError, toFailure } from '../../kit/errors.ts'

export type EventBody = Event['body']
export type StepResult = Extract<EventBody, { type: 'run-ended' }>['result']
export type StepFailure = Extract<StepResult, { outcome: 'failed' }>['failure']

/** The host and component that an event is about. */
export interface EventSubject {
  readonly host?: string
  readonly component?: string
}

/** Emits an event to all listeners. */
export type EmitEvent = (body: EventBody, subject?: EventSubject) => void

/** Numbers the events of one command from 1 and passes them to the listeners. */
export function createEventStream(
  run: string,
  now: () => Date,
  listeners: readonly ((event: Event) => void)[],
): EmitEvent {
  let sequence = 0
  return (body, { host, component } = {}) => {
    sequence++
    const event: Event = {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'Event',
      run,
      sequence,
      time: now().toISOString(),
      ...(host === undefined ? {} : { host }),
      ...(component === undefined ? {} : { component }),
      body,
    }
    for (const listener of listeners) listener(event)
  }
}

/**
 * Converts an error to the failure that a step event reports. If there are several errors, the code and the
 * hint come from the first one.
 */
export function toStepFailure(error: unknown): StepFailure {
  const [first] = flattenErrors(error)
  return { ...toFailure(first), message: formatError(error) }
}

/** Returns the errors inside nested aggregate errors as one list. */
export function flattenErrors(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? error.errors.flatMap(flattenErrors) : [error]
}

/** Runs a step, or one host's part of a step, and emits its result. */
export async function reportStep<T>(
  { emit, signal }: { readonly emit: EmitEvent; readonly signal: AbortSignal },
  { step, host }: { readonly step: string; readonly host?: string },
  work: () => Promise<T>,
  toResult: (value: T) => StepResult = () => ({ outcome: 'done' }),
): Promise<T> {
  const subject = host === undefined ? {} : { host }
  try {
    const value = await work()
    emit({ type: 'step-ended', step, result: toResult(value) }, subject)
    return value
  } catch (error) {
    // Only the abort reason is an interrupt. Any other error is a failure, even if it happens after an
    // interrupt.
    const interrupted = signal.aborted && error === signal.reason
    const result: StepResult = interrupted
      ? { outcome: 'interrupted' }
      : { outcome: 'failed', failure: toStepFailure(error) }
    emit({ type: 'step-ended', step, result }, subject)
    throw error
  }
}

/** Plans and runs a single step that is not part of a rollout, and emits its events. */
export async function reportSingleStep<T>(
  options: { readonly emit: EmitEvent; readonly signal: AbortSignal },
  planned: { readonly step: string; readonly title: string; readonly hosts: readonly string[] },
  work: () => Promise<T>,
  toResult?: (value: T) => StepResult,
): Promise<T> {
  const { step, title, hosts } = planned
  options.emit({ type: 'steps-planned', steps: [{ step, title, hosts: [...hosts] }] })
  options.emit({ type: 'step-started', step })
  return reportStep(options, { step }, work, toResult)
}

/**
 * Wraps a progress callback so that it is called only when the rounded number of megabytes changes. The
 * returned function takes bytes; `report` gets megabytes.
 */
export function throttleProgress(
  report: (done: number, total: number) => void,
): (sent: number, size: number) => void {
  let reported = -1
  return (sent, size) => {
    const done = Math.round(sent / 1e6)
    if (done === reported) return
    reported = done
    report(done, Math.round(size / 1e6))
  }
}
