import type { Manifest } from '../../kube/object.ts'
import { buildClusterMetadata, buildAppLabels, buildNamespacedMetadata } from '../manifest-helpers.ts'
import { buildServiceAccount, rbacGroup, buildSubject } from '../service-account.ts'
import { metricsServerApp } from './deployment.ts'

export function buildMetricsServerRbac(): Manifest[] {
  return [
    ...buildServiceAccount(metricsServerApp, 'system:metrics-server', [
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
    ]),
    readerRole,
    // metrics-server asks the API server to authenticate and authorize its clients.
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: buildClusterMetadata('metrics-server:system:auth-delegator', metricsServerApp),
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'system:auth-delegator' },
      subjects: [buildSubject(metricsServerApp)],
    },
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'RoleBinding',
      metadata: buildNamespacedMetadata('metrics-server-auth-reader', metricsServerApp),
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
      subjects: [buildSubject(metricsServerApp)],
    },
  ]
}

/** Aggregated role: users who may view a namespace may also view the metrics of its pods. */
const readerRole: Manifest = {
  apiVersion: `${rbacGroup}/v1`,
  kind: 'ClusterRole',
  metadata: {
    name: 'system:aggregated-metrics-reader',
    labels: {
      ...buildAppLabels(metricsServerApp),
      ...Object.fromEntries(
        ['view', 'edit', 'admin'].map((role) => [`${rbacGroup}/aggregate-to-${role}`, 'true']),
      ),
    },
  },
  rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
}
