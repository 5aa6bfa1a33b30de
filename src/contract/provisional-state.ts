import { z } from 'zod'
import { nodePlanFormat } from './node-plan.ts'
import { provisionalChange } from './provisional-change.ts'
import type { Format } from './versioned.ts'

const head = {
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ProvisionalState'),
  provisional: provisionalChange,
}

/** State of a provisional change that the host stores on disk, so that it survives restarts. */
const stateSchema = z.discriminatedUnion('state', [
  z.strictObject({
    ...head,
    state: z.literal('provisional'),
    /** The plan to roll back to, without secrets. */
    previousPlan: nodePlanFormat.newest.schema,
  }),
  /** The change was not confirmed. This state is kept until the next change on the host. */
  z.strictObject({ ...head, state: z.literal('rolled-back'), at: z.iso.datetime() }),
])
export type ProvisionalState = z.infer<typeof stateSchema>

export const provisionalStateFormat: Format<ProvisionalState> = {
  kind: 'ProvisionalState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
