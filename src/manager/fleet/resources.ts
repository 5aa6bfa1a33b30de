import type { z } from 'zod'
import { managedClusterSpec, managedClusterStatus } from '../../fleet/cluster-resource.ts'
import {
  approvalSpec,
  clusterSetSpec,
  clusterSetStatus,
  rolloutSpec,
  rolloutStatus,
} from '../../fleet/rollout-resource.ts'
import { buildCrd, crdVersion } from '../../kube/crd.ts'
import { type Kind, kubeObject, type Manifest } from '../../kube/object.ts'

/** API group of the management plane. It differs from `hyperkube.dev`, whose kind Cluster is cluster.yml. */
export const fleetGroup = 'fleet.hyperkube.dev'
const apiVersion = `${fleetGroup}/${crdVersion}`

const clusterSchema = kubeObject.extend({
  spec: managedClusterSpec.prefault({}),
  status: managedClusterStatus.prefault({}),
})
export const managedClusterKind: Kind<z.infer<typeof clusterSchema>> = {
  ...{ apiVersion, kind: 'Cluster' },
  schema: clusterSchema,
}

const setSchema = kubeObject.extend({
  spec: clusterSetSpec.prefault({}),
  status: clusterSetStatus.optional(),
})
export const clusterSetKind: Kind<z.infer<typeof setSchema>> = {
  ...{ apiVersion, kind: 'ClusterSet' },
  schema: setSchema,
}

const rolloutSchema = kubeObject.extend({ spec: rolloutSpec, status: rolloutStatus.optional() })
export const rolloutKind: Kind<z.infer<typeof rolloutSchema>> = {
  ...{ apiVersion, kind: 'Rollout' },
  schema: rolloutSchema,
}

const approvalSchema = kubeObject.extend({ spec: approvalSpec })
export const approvalKind: Kind<z.infer<typeof approvalSchema>> = {
  ...{ apiVersion, kind: 'Approval' },
  schema: approvalSchema,
}

/** Builds the CustomResourceDefinitions of a management plane. */
export const fleetCrds: readonly Manifest[] = [
  buildCrd({
    ...{ group: fleetGroup, kind: 'Cluster', plural: 'clusters', singular: 'cluster', status: true },
    fields: { spec: managedClusterSpec, status: managedClusterStatus },
    columns: [
      { name: 'State', type: 'string', jsonPath: '.status.cluster.state' },
      { name: 'Desired', type: 'integer', jsonPath: '.spec.desired.generation' },
      { name: 'Permitted', type: 'integer', jsonPath: '.spec.permitted.generation' },
      { name: 'Applied', type: 'integer', jsonPath: '.status.applied.generation' },
      { name: 'Failed', type: 'string', jsonPath: '.status.failed.code' },
      { name: 'Heartbeat', type: 'date', jsonPath: '.status.heartbeat' },
    ],
  }),
  buildCrd({
    ...{ group: fleetGroup, kind: 'ClusterSet', plural: 'clustersets', singular: 'clusterset', status: true },
    fields: { spec: clusterSetSpec, status: clusterSetStatus },
    columns: [
      { name: 'Clusters', type: 'integer', jsonPath: '.status.clusters' },
      { name: 'Healthy', type: 'integer', jsonPath: '.status.healthy' },
      { name: 'Updated', type: 'integer', jsonPath: '.status.updated' },
    ],
  }),
  buildCrd({
    ...{ group: fleetGroup, kind: 'Rollout', plural: 'rollouts', singular: 'rollout', status: true },
    fields: { spec: rolloutSpec, status: rolloutStatus },
    columns: [
      { name: 'Set', type: 'string', jsonPath: '.spec.clusterSet' },
      { name: 'State', type: 'string', jsonPath: '.status.state' },
      { name: 'Message', type: 'string', jsonPath: '.status.message' },
    ],
  }),
  buildCrd({
    ...{ group: fleetGroup, kind: 'Approval', plural: 'approvals', singular: 'approval', status: false },
    fields: { spec: approvalSpec },
    columns: [
      { name: 'Rollout', type: 'string', jsonPath: '.spec.rollout' },
      { name: 'Wave', type: 'integer', jsonPath: '.spec.wave' },
      { name: 'By', type: 'string', jsonPath: '.spec.by' },
    ],
  }),
]
