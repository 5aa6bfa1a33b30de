import { z } from 'zod'
import { healAction, healPause } from './health.ts'
import type { Format } from './versioned.ts'

/** Healing progress of an unhealthy service. It is deleted after the service has been healthy for a while. */
const escalation = z.strictObject({
  /** When the service became unhealthy. */
  since: z.iso.datetime(),
  /** Number of healing steps taken so far. */
  step: z.int().min(0),
  /** Time of the last healing step. */
  lastStepAt: z.iso.datetime().optional(),
  exhausted: z.boolean(),
  /** When the service became healthy again. */
  recoveredAt: z.iso.datetime().optional(),
})

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HealState'),
  paused: healPause.optional(),
  /** Digest of the applied plan. The escalations are reset when the plan changes. */
  plan: z.string().optional(),
  /** Escalation of each unhealthy component (key: component name). */
  escalations: z.record(z.string(), escalation),
  /** Times of recent disruptive actions, such as restarts. */
  disruptions: z.array(z.iso.datetime()),
  /** Recent healing actions, newest first. */
  actions: z.array(healAction),
})

/**
 * Healing state that survives a restart of the agent. Without it an agent that crashes would repeat the same
 * healing steps forever.
 */
export type HealState = z.infer<typeof stateSchema>

export const healStateFormat: Format<HealState> = {
  kind: 'HealState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
