import { z } from 'zod'
import type { Format } from './versioned.ts'
import { versionPattern } from './windows-paths.ts'

const formerAgent = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('FormerAgent'),
  version: z.string().regex(versionPattern),
  /** What its service ran, as the manager of services had it. */
  commandLine: z.string(),
})

/** Which agent a Windows host goes back to, unless the new one is kept. As long as there is this file, there is a trial. */
export type FormerAgent = z.infer<typeof formerAgent>

export const formerAgentFormat: Format<FormerAgent> = {
  kind: 'FormerAgent',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: formerAgent },
  older: [],
}
