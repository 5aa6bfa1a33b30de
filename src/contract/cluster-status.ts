import { z } from 'zod'
import { healthValue } from './health.ts'

const count = z.int().min(0)
/** Number of hosts or nodes per version. */
const versionCounts = z.array(z.object({ version: z.string(), count }))

/**
 * Status of the ClusterStatus object: a summary for clients without access to the hosts. A long list of
 * findings is truncated.
 */
export const clusterStatusSchema = z.object({
  /**
   * `healthy`: there are no findings. `degraded`: the cluster works but needs attention. `unhealthy`: etcd or
   * most nodes do not work.
   */
  state: healthValue.extract(['healthy', 'degraded', 'unhealthy']),
  /** When the cluster entered the current state. */
  since: z.iso.datetime(),
  nodes: z.object({ all: count, ready: count, unschedulable: count, kubelets: versionCounts }),
  hosts: z.object({ all: count, reporting: count, agents: versionCounts }),
  etcd: z.object({ members: count, ready: count }),
  /** Absent if no host has reported certificates. */
  certificates: z.object({ earliestExpiry: z.iso.date(), host: z.string() }).optional(),
  /** The newest snapshot of the cluster. */
  snapshot: z.object({ name: z.string(), host: z.string() }).optional(),
  findings: z.array(
    z.object({ severity: z.enum(['error', 'warning']), host: z.string().optional(), message: z.string() }),
  ),
})
export type ClusterStatus = z.infer<typeof clusterStatusSchema>
