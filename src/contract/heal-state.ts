import { z } from 'zod'
import { healAction, healPause } from './health.ts'
import type { Format } from './versioned.ts'

/** How far a service has come on its ladder. Nothing is kept of one that has been well for a while. */
const climb = z.strictObject({
  /** Since when it is not well. */
  since: z.iso.datetime(),
  /** How many rungs were taken. */
  rung: z.int().min(0),
  /** When the last one was. */
  acted: z.iso.datetime().optional(),
  givenUp: z.boolean(),
  /** Since when it is well again. */
  recovered: z.iso.datetime().optional(),
})

const memory = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HealMemory'),
  paused: healPause.optional(),
  /** The digest of the plan under which all that was tried: with another one it begins anew. */
  plan: z.string().optional(),
  /** By component. */
  climbs: z.record(z.string(), climb),
  /** When something was done that disturbs. */
  spent: z.array(z.iso.datetime()),
  /** The newest first. */
  actions: z.array(healAction),
})

/** What healing must know, whatever happens to the host and its agent: otherwise an agent that dies heals for ever. */
export type HealMemory = z.infer<typeof memory>

export const healMemoryFormat: Format<HealMemory> = {
  kind: 'HealMemory',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: memory },
  older: [],
}
