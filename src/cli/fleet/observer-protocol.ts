import { z } from 'zod'
import { clusterHealth } from '../../fleet/fleet-run.ts'

/** A request to observe one cluster. The process writes one response per request, in any order. */
export const observeRequest = z.strictObject({
  /** Path of cluster.yml, which identifies the request. */
  file: z.string(),
  timeoutMs: z.number(),
})
export type ObserveRequest = z.infer<typeof observeRequest>

const healthyCount = z.object({ healthy: z.int(), total: z.int() })

/** Health of one observed cluster. */
const observation = z.strictObject({
  file: z.string(),
  health: clusterHealth,
  summary: z
    .strictObject({
      kubernetes: z.string(),
      hosts: healthyCount,
      nodes: healthyCount,
      etcd: healthyCount.extend({
        quorum: z.boolean(),
        leader: z.string().exactOptional(),
        size: z.number().exactOptional(),
        alarms: z.array(z.enum(['NOSPACE', 'CORRUPT'])).readonly(),
      }),
      api: healthyCount,
      expiry: z
        .strictObject({ host: z.string(), component: z.string(), file: z.string(), until: z.string() })
        .exactOptional(),
    })
    .optional(),
  problems: z.array(z.string()).readonly(),
})

/** The process could not read cluster.yml, so it did not observe the cluster. */
const failure = z.strictObject({ file: z.string(), error: z.string() })

/** Both sides are the same program, so there is no other version. */
export const observeResponse = z.union([observation, failure])
export type ObserveResponse = z.infer<typeof observeResponse>
