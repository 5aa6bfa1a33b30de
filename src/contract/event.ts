import { z } from 'zod'
import { stageSchema } from './component-plan.ts'
import { findingSchema } from './finding.ts'
import { opSchema } from './op.ts'
import type { Format } from './versioned.ts'

const failure = z.strictObject({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
})

const outcome = z.discriminatedUnion('outcome', [
  z.strictObject({ outcome: z.literal('done') }),
  /** The resource was already in the desired state. */
  z.strictObject({ outcome: z.literal('unchanged') }),
  z.strictObject({ outcome: z.literal('failed'), failure }),
  z.strictObject({ outcome: z.literal('interrupted') }),
])

const plannedStep = z.strictObject({
  step: z.string(),
  /** One line of text for people. */
  title: z.string(),
  hosts: z.array(z.string()),
  /** Absent for steps that do not belong to a stage, such as connecting. */
  stage: stageSchema.optional(),
})

/** The content of an event by its type. The host and component are fields of the event itself. */
const eventBody = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('run-started'), command: z.string() }),
  z.strictObject({ type: z.literal('run-ended'), result: outcome }),
  /** The next steps in order. A run may plan further steps after these. */
  z.strictObject({ type: z.literal('steps-planned'), steps: z.array(plannedStep) }),
  /**
   * An event without a host reports the start of the whole step. An event with a host reports the start of
   * the step on this host.
   */
  z.strictObject({ type: z.literal('step-started'), step: z.string(), stage: stageSchema.optional() }),
  z.strictObject({ type: z.literal('step-ended'), step: z.string(), result: outcome }),
  z.strictObject({ type: z.literal('op-started'), op: opSchema }),
  z.strictObject({ type: z.literal('op-ended'), op: opSchema, result: outcome }),
  /** Emitted repeatedly during a wait. `since` is the start of the wait. */
  z.strictObject({ type: z.literal('waiting'), for: z.string(), since: z.iso.datetime() }),
  /** The run finishes the work in progress and starts nothing new. */
  z.strictObject({ type: z.literal('stopping'), because: z.enum(['interrupted', 'timeout', 'claim-lost']) }),
  z.strictObject({ type: z.literal('progress'), done: z.number(), total: z.number(), unit: z.string() }),
  z.strictObject({ type: z.literal('finding'), finding: findingSchema }),
  /** Log lines of a failed component. */
  z.strictObject({ type: z.literal('log'), lines: z.array(z.string()) }),
])

const event = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Event'),
  /**
   * Id of the run. `sequence` counts the events of the run from 1, so a client can request missing events
   * after a lost connection.
   */
  run: z.uuid(),
  sequence: z.int().min(1),
  time: z.iso.datetime(),
  host: z.string().optional(),
  component: z.string().optional(),
  body: eventBody,
})
export type Event = z.infer<typeof event>

/** Event types that this release knows. Newer releases may emit further types. */
export const eventTypes: ReadonlySet<string> = new Set(eventBody.options.map(({ shape }) => shape.type.value))

export const eventFormat: Format<Event> = {
  kind: 'Event',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: event },
  older: [],
}
