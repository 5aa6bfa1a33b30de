import { z } from 'zod'
import type { Format } from './versioned.ts'

/** Time in milliseconds since 1970. */
const moment = z.number()

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('WorkerState'),
  /** Recent tries of each step: their number and the time of the last one. */
  tries: z.record(z.string(), z.strictObject({ count: z.int().min(1), last: moment })),
  /** Inputs of each service at its last start, and the time of the start. */
  started: z.record(z.string(), z.strictObject({ basis: z.string(), at: moment })),
  /** Time at which each stopping service was first observed in this state. */
  stopping: z.record(z.string(), moment),
  /** Cached digests of files. A digest is valid while the file's stamp is unchanged. */
  digests: z.record(z.string(), z.strictObject({ stamp: z.string(), sha256: z.string() })),
  /** Routes to cloud metadata services that the host had before its network was changed. */
  routesBefore: z.array(z.string()).optional(),
})

/** State that the agent of a Windows host keeps on disk for healing services and networks. */
export type WorkerStateDocument = z.infer<typeof stateSchema>

export const workerStateFormat: Format<WorkerStateDocument> = {
  kind: 'WorkerState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
