import { z } from 'zod'
import type { Format } from './versioned.ts'

/** Milliseconds since 1970, as all times in this document. */
const moment = z.number()

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('WorkerState'),
  /** Recent steps, by what they do. */
  tries: z.record(z.string(), z.strictObject({ count: z.int().min(1), last: moment })),
  /** Inputs of each service at its last start, and the time of that start. */
  started: z.record(z.string(), z.strictObject({ basis: z.string(), at: moment })),
  /** Since when a service has been stopping. */
  stopping: z.record(z.string(), moment),
  /** Cached digests of unchanged files. */
  digests: z.record(z.string(), z.strictObject({ stamp: z.string(), sha256: z.string() })),
  /** Routes to cloud metadata that the host had originally. */
  routesBefore: z.array(z.string()).optional(),
})

/** State of the agent on Windows for healing services and networks. */
export type WorkerStateDocument = z.infer<typeof stateSchema>

export const workerStateFormat: Format<WorkerStateDocument> = {
  kind: 'WorkerState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
