import { z } from 'zod'

/** A change that a host rolls back by itself unless an operator confirms it. */
export const provisionalChange = z.strictObject({
  /** The same on all hosts of the change. */
  id: z.uuid(),
  /** Digest of the provisional plan. */
  plan: z.string().regex(/^[0-9a-f]{64}$/),
  /** By the host's clock. */
  deadline: z.iso.datetime(),
  /**
   * Milliseconds after the deadline at which this host rolls back, so that hosts roll back one after the
   * other.
   */
  rollbackDelayMs: z.int().min(0),
})
export type ProvisionalChange = z.infer<typeof provisionalChange>

/** State of a provisional change on a host. A confirmed change is forgotten. */
export const hostProvisionalChange = z.discriminatedUnion('state', [
  z.strictObject({ ...provisionalChange.shape, state: z.literal('provisional') }),
  z.strictObject({ ...provisionalChange.shape, state: z.literal('rolled-back'), at: z.iso.datetime() }),
])
export type HostProvisionalChange = z.infer<typeof hostProvisionalChange>

/** Longest provisional change, in milliseconds. */
export const maxProvisionalMs = 24 * 3_600_000
