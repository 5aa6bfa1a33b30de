import type { z } from 'zod'
import { clusterStatusSchema } from '../contract/cluster-status.ts'
import { buildCrd, crdGroup, crdVersion } from './crd.ts'
import { type Kind, kubeObject, type Manifest } from './object.ts'

const schema = kubeObject.extend({ status: clusterStatusSchema.optional() })
/** The ClusterStatus object, of which a cluster has exactly one. */
export type ClusterStatusObject = z.infer<typeof schema>

export const clusterStatusKind: Kind<ClusterStatusObject> = {
  ...{ apiVersion: `${crdGroup}/${crdVersion}`, kind: 'ClusterStatus' },
  schema,
}

export const clusterStatusName = 'cluster'

export function buildClusterStatusCrd(): Manifest {
  return buildCrd({
    kind: 'ClusterStatus',
    plural: 'clusterstatuses',
    singular: 'clusterstatus',
    fields: { status: clusterStatusSchema },
    status: true,
    columns: [
      { name: 'State', type: 'string', jsonPath: '.status.state' },
      { name: 'Since', type: 'date', jsonPath: '.status.since' },
      { name: 'Nodes', type: 'integer', jsonPath: '.status.nodes.all' },
      { name: 'Ready', type: 'integer', jsonPath: '.status.nodes.ready' },
    ],
  })
}
