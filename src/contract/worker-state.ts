import { z } from 'zod'
import type { Format } from './versioned.ts'

/** Milliseconds since 1970, as all times in it. */
const moment = z.number()

const memory = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('WorkerMemory'),
  /** Steps that were taken lately, by what they do. */
  tries: z.record(z.string(), z.strictObject({ count: z.int().min(1), last: moment })),
  /** What each service found when it was started last, and when that was. */
  started: z.record(z.string(), z.strictObject({ basis: z.string(), at: moment })),
  /** Since when a service has been about to stop. */
  stopping: z.record(z.string(), moment),
  /** Digests of files that have not changed since. */
  digests: z.record(z.string(), z.strictObject({ stamp: z.string(), sha256: z.string() })),
  /** Which routes to a cloud's metadata the host had before us. */
  routesBefore: z.array(z.string()).optional(),
})

/** What an agent on Windows remembers of keeping its host's services and networks. */
export type WorkerMemoryDocument = z.infer<typeof memory>

export const workerMemoryFormat: Format<WorkerMemoryDocument> = {
  kind: 'WorkerMemory',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: memory },
  older: [],
}
