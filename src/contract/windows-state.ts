import { z } from 'zod'
import { versionPattern } from './host-paths.ts'
import type { Format } from './versioned.ts'

/** Time in milliseconds since 1970. */
const moment = z.number()

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('WorkerState'),
  /**
   * Number of recent tries of each reconcile step, and the time of the last try. The key identifies the step.
   */
  tries: z.record(z.string(), z.strictObject({ count: z.int().min(1), last: moment })),
  /**
   * When each service was last started, and with which versions of its program, settings and dependencies
   * (`basis`).
   */
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

const restarts = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ServiceRestarts'),
  /** Number of restarts of each service (key: service name). */
  services: z.record(z.string(), z.int().min(0)),
})

/**
 * Automatic restarts of services on a Windows host. The agent counts them, because the Service Control
 * Manager does not.
 */
type ServiceRestarts = z.infer<typeof restarts>

export const serviceRestartsFormat: Format<ServiceRestarts> = {
  kind: 'ServiceRestarts',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: restarts },
  older: [],
}

const previousAgent = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('PreviousAgent'),
  version: z.string().regex(versionPattern),
  /** Command line of the previous agent's service. */
  commandLine: z.string(),
})

/**
 * The agent that a Windows host rolls back to unless the new agent is confirmed. The host keeps this document
 * in a file as long as the new agent is provisional.
 */
export type PreviousAgent = z.infer<typeof previousAgent>

export const previousAgentFormat: Format<PreviousAgent> = {
  kind: 'PreviousAgent',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: previousAgent },
  older: [],
}
