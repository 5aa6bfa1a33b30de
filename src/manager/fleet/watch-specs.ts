import { z } from 'zod'
import type { ClusterReport } from '../../fleet/advance-rollout.ts'
import { WatchSpec } from '../../kube/informers.ts'
import { approvalKind, clusterSetKind, managedClusterKind, rolloutKind } from './resources.ts'

/** A Cluster object without its document, which may be large. */
export interface KnownCluster extends ClusterReport {
  readonly status: { readonly heartbeat: string | undefined }
}

export const managedClusterWatch = new WatchSpec({
  name: 'managed-clusters',
  kind: managedClusterKind,
  select: ({ metadata: { name, labels = {} }, spec, status }): KnownCluster => ({
    name,
    // As in fleet.yml, the label `name` is the name of the cluster.
    labels: { ...labels, name },
    desired: spec.desired?.generation,
    permitted: spec.permitted,
    applied: status.applied?.generation,
    failed: status.failed,
    health: status.cluster?.state ?? 'unknown',
    status: { heartbeat: status.heartbeat },
  }),
})

export const clusterSetWatch = new WatchSpec({
  name: 'cluster-sets',
  kind: clusterSetKind,
  select: ({ metadata: { name }, spec, status }) => ({ name, selector: spec.selector, status }),
})

const created = z.looseObject({ creationTimestamp: z.string() })

/** Returns the time at which an object was created; undefined if the API did not return it. */
function readCreated(metadata: unknown): number | undefined {
  const parsed = created.safeParse(metadata)
  return parsed.success ? Date.parse(parsed.data.creationTimestamp) : undefined
}

export const rolloutWatch = new WatchSpec({
  name: 'rollouts',
  kind: rolloutKind,
  select: ({ metadata, spec, status }) => ({
    ...{ name: metadata.name, spec, status, created: readCreated(metadata) },
    resourceVersion: metadata.resourceVersion,
  }),
})

export const approvalWatch = new WatchSpec({
  name: 'approvals',
  kind: approvalKind,
  select: ({ metadata, spec: { rollout, wave } }) => ({ rollout, wave, created: readCreated(metadata) }),
})

/** Milliseconds between two heartbeats of a managed cluster. Changes are reported at once. */
export const memberHeartbeatMs = 5 * 60_000
/** Milliseconds without a heartbeat after which the health of a managed cluster is unknown. */
export const memberSilentMs = 3 * memberHeartbeatMs
