import { z } from 'zod'

const count = z.int().min(0)
/** How many there are of each version. */
const versions = z.array(z.object({ version: z.string(), count }))

/** How a cluster is, in a few words, for whoever cannot look at its hosts. Lists have the first few of each. */
export const clusterStatus = z.object({
  /** `well`: nothing is to be done. `degraded`: it works, and somebody should look. `failing`: etcd or most nodes do not. */
  state: z.enum(['well', 'degraded', 'failing']),
  /** Since when it is in this state. */
  since: z.iso.datetime(),
  nodes: z.object({ all: count, ready: count, unschedulable: count, kubelets: versions }),
  hosts: z.object({ all: count, heard: count, agents: versions }),
  etcd: z.object({ members: count, ready: count }),
  /** None: no host has said anything of certificates. */
  certificates: z.object({ firstEnds: z.iso.date(), host: z.string() }).optional(),
  /** The newest one. */
  snapshot: z.object({ name: z.string(), host: z.string() }).optional(),
  findings: z.array(
    z.object({ severity: z.enum(['error', 'warning']), host: z.string().optional(), message: z.string() }),
  ),
})
export type ClusterStatus = z.infer<typeof clusterStatus>
