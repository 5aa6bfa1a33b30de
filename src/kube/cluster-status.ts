import type { z } from 'zod'
import { clusterStatus } from '../contract/cluster-status.ts'
import { definitionOf, ownGroup, ownVersion } from './crd.ts'
import { type Kind, kubeObject, type Manifest } from './object.ts'

const schema = kubeObject.extend({ status: clusterStatus.optional() })
/** There is one in a cluster. */
export type ClusterStatusObject = z.infer<typeof schema>

export const clusterStatuses: Kind<ClusterStatusObject> = {
  ...{ apiVersion: `${ownGroup}/${ownVersion}`, kind: 'ClusterStatus' },
  schema,
}

export const clusterStatusName = 'cluster'

export const clusterStatusDefinition: Manifest = definitionOf({
  kind: 'ClusterStatus',
  plural: 'clusterstatuses',
  singular: 'clusterstatus',
  fields: { status: clusterStatus },
  status: true,
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Since', type: 'date', jsonPath: '.status.since' },
    { name: 'Nodes', type: 'integer', jsonPath: '.status.nodes.all' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.nodes.ready' },
  ],
})
