import { z } from 'zod'
import { nodePlanFormat } from './node-plan.ts'
import type { Format } from './versioned.ts'

/** A change that a host rolls back by itself unless an operator confirms it. */
export const provisionalChange = z.strictObject({
  /** Id of the change, equal on all affected hosts. */
  id: z.uuid(),
  /** Digest of the provisional plan. */
  plan: z.string().regex(/^[0-9a-f]{64}$/),
  /** Time by the host's clock until which the change must be confirmed. */
  deadline: z.iso.datetime(),
  /**
   * Milliseconds that this host waits after the deadline before it rolls back. Different delays make hosts
   * roll back one after the other.
   */
  rollbackDelayMs: z.int().min(0),
})
export type ProvisionalChange = z.infer<typeof provisionalChange>

/** State of a provisional change on a host. A confirmed change has no state. */
export const hostProvisionalChange = z.discriminatedUnion('state', [
  z.strictObject({ ...provisionalChange.shape, state: z.literal('provisional') }),
  z.strictObject({ ...provisionalChange.shape, state: z.literal('rolled-back'), at: z.iso.datetime() }),
])
export type HostProvisionalChange = z.infer<typeof hostProvisionalChange>

/** Maximum time until a provisional change must be confirmed, in milliseconds. */
export const maxProvisionalMs = 24 * 3_600_000

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
