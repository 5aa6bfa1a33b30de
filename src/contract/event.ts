import { z } from 'zod'
import { findingSchema } from './finding.ts'
import { op } from './op.ts'
import { stage } from './stage.ts'
import type { Format } from './versioned.ts'

const failure = z.strictObject({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
})

const outcome = z.discriminatedUnion('outcome', [
  z.strictObject({ outcome: z.literal('done') }),
  /** It was so already. */
  z.strictObject({ outcome: z.literal('unchanged') }),
  z.strictObject({ outcome: z.literal('failed'), failure }),
  z.strictObject({ outcome: z.literal('interrupted') }),
])

const plannedStep = z.strictObject({
  step: z.string(),
  /** In one line, for people. */
  title: z.string(),
  hosts: z.array(z.string()),
  /** None when it takes no host further: reaching hosts, asking them. */
  stage: stage.optional(),
})

/** What can be told of a run. A host and a component belong to the event around it. */
const what = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('run-started'), command: z.string() }),
  z.strictObject({ type: z.literal('run-ended'), result: outcome }),
  /** What comes next, one after the other. A run may plan again when that is done. */
  z.strictObject({ type: z.literal('steps-planned'), steps: z.array(plannedStep) }),
  /** With a host: what that host has to do in it. */
  z.strictObject({ type: z.literal('step-started'), step: z.string(), stage: stage.optional() }),
  z.strictObject({ type: z.literal('step-ended'), step: z.string(), result: outcome }),
  z.strictObject({ type: z.literal('op-started'), op }),
  z.strictObject({ type: z.literal('op-ended'), op, result: outcome }),
  /** Told again while it lasts; `since` is when the waiting began. */
  z.strictObject({ type: z.literal('waiting'), for: z.string(), since: z.iso.datetime() }),
  /** What is being done is finished, and nothing more is begun. */
  z.strictObject({ type: z.literal('stopping'), because: z.enum(['interrupted', 'timeout', 'claim-lost']) }),
  z.strictObject({ type: z.literal('progress'), done: z.number(), total: z.number(), unit: z.string() }),
  z.strictObject({ type: z.literal('finding'), finding: findingSchema }),
  /** Lines of a component that failed, for a person to read. */
  z.strictObject({ type: z.literal('log'), lines: z.array(z.string()) }),
])

const event = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Event'),
  /** Of one run they are counted from 1, so that whoever lost the connection asks for the rest. */
  run: z.uuid(),
  sequence: z.int().min(1),
  time: z.iso.datetime(),
  host: z.string().optional(),
  component: z.string().optional(),
  what,
})
export type Event = z.infer<typeof event>

/** Newer releases may tell of more. */
export const eventTypes: ReadonlySet<string> = new Set(what.options.map(({ shape }) => shape.type.value))

export const eventFormat: Format<Event> = {
  kind: 'Event',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: event },
  older: [],
}
