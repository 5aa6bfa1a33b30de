import { z } from 'zod'
import { findingSchema } from './finding.ts'
import { opSchema } from './op.ts'
import { stageSchema } from './stage.ts'
import type { Format } from './versioned.ts'

const failure = z.strictObject({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
})

const outcome = z.discriminatedUnion('outcome', [
  z.strictObject({ outcome: z.literal('done') }),
  /** Already in the desired state. */
  z.strictObject({ outcome: z.literal('unchanged') }),
  z.strictObject({ outcome: z.literal('failed'), failure }),
  z.strictObject({ outcome: z.literal('interrupted') }),
])

const plannedStep = z.strictObject({
  step: z.string(),
  /** One line for people. */
  title: z.string(),
  hosts: z.array(z.string()),
  /** Absent for steps that do not advance a host, such as connecting. */
  stage: stageSchema.optional(),
})

/** Content of an event. Host and component belong to the enclosing event. */
const eventBody = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('run-started'), command: z.string() }),
  z.strictObject({ type: z.literal('run-ended'), result: outcome }),
  /** The next steps in order. A run may plan again when they are done. */
  z.strictObject({ type: z.literal('steps-planned'), steps: z.array(plannedStep) }),
  /** With a host: the part of this host in the step. */
  z.strictObject({ type: z.literal('step-started'), step: z.string(), stage: stageSchema.optional() }),
  z.strictObject({ type: z.literal('step-ended'), step: z.string(), result: outcome }),
  z.strictObject({ type: z.literal('op-started'), op: opSchema }),
  z.strictObject({ type: z.literal('op-ended'), op: opSchema, result: outcome }),
  /** Emitted again while the wait lasts; `since` is its start. */
  z.strictObject({ type: z.literal('waiting'), for: z.string(), since: z.iso.datetime() }),
  /** Work in progress is finished; nothing new starts. */
  z.strictObject({ type: z.literal('stopping'), because: z.enum(['interrupted', 'timeout', 'claim-lost']) }),
  z.strictObject({ type: z.literal('progress'), done: z.number(), total: z.number(), unit: z.string() }),
  z.strictObject({ type: z.literal('finding'), finding: findingSchema }),
  /** Log lines of a failed component. */
  z.strictObject({ type: z.literal('log'), lines: z.array(z.string()) }),
])

const event = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Event'),
  /** The sequence counts from 1 per run, so that a client can request the rest after a lost connection. */
  run: z.uuid(),
  sequence: z.int().min(1),
  time: z.iso.datetime(),
  host: z.string().optional(),
  component: z.string().optional(),
  body: eventBody,
})
export type Event = z.infer<typeof event>

/** Types that this release knows; newer releases may emit more. */
export const eventTypes: ReadonlySet<string> = new Set(eventBody.options.map(({ shape }) => shape.type.value))

export const eventFormat: Format<Event> = {
  kind: 'Event',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: event },
  older: [],
}
