import { z } from 'zod'
import { nodePlanFormat } from './node-plan.ts'
import { trial } from './provisional-change.ts'
import type { Format } from './versioned.ts'

const head = { apiVersion: z.literal('hyperkube.dev/v1'), kind: z.literal('TrialMemory'), trial }

/** What a host must know of a trial, whatever happens to it and to its agent. */
const memory = z.discriminatedUnion('state', [
  z.strictObject({
    ...head,
    state: z.literal('on-trial'),
    /** What it goes back to. It holds no secrets. */
    former: nodePlanFormat.newest.schema,
  }),
  /** Nobody kept it. Known until something else is done to the host. */
  z.strictObject({ ...head, state: z.literal('went-back'), at: z.iso.datetime() }),
])
export type TrialMemory = z.infer<typeof memory>

export const trialMemoryFormat: Format<TrialMemory> = {
  kind: 'TrialMemory',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: memory },
  older: [],
}
