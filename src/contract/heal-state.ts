import { z } from 'zod'
import { healAction, healPause } from './health.ts'
import type { Format } from './versioned.ts'

/**
 * Escalation progress of an unhealthy service. It is dropped after the service has been healthy for a while.
 */
const escalation = z.strictObject({
  /** When the service became unhealthy. */
  since: z.iso.datetime(),
  /** Number of steps taken. */
  step: z.int().min(0),
  /** Time of the last step. */
  lastStepAt: z.iso.datetime().optional(),
  exhausted: z.boolean(),
  /** When the service became healthy again. */
  recoveredAt: z.iso.datetime().optional(),
})

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HealState'),
  paused: healPause.optional(),
  /** Digest of the plan that all attempts belong to: a new plan resets the escalations. */
  plan: z.string().optional(),
  /** By component. */
  escalations: z.record(z.string(), escalation),
  /** Times of disruptive actions. */
  disruptions: z.array(z.iso.datetime()),
  /** Newest first. */
  actions: z.array(healAction),
})

/** What healing must remember across restarts. Without it an agent that crashes would heal forever. */
export type HealState = z.infer<typeof stateSchema>

export const healStateFormat: Format<HealState> = {
  kind: 'HealState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
