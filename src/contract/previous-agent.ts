import { z } from 'zod'
import type { Format } from './versioned.ts'
import { versionPattern } from './windows-paths.ts'

const previousAgent = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('PreviousAgent'),
  version: z.string().regex(versionPattern),
  /** Command line of the previous agent's service. */
  commandLine: z.string(),
})

/**
 * The agent that a Windows host rolls back to unless the new agent is confirmed. While this file exists, the
 * new agent is provisional.
 */
export type PreviousAgent = z.infer<typeof previousAgent>

export const previousAgentFormat: Format<PreviousAgent> = {
  kind: 'PreviousAgent',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: previousAgent },
  older: [],
}
