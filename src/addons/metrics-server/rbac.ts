import type { Manifest } from '../../kube/object.ts'
import { clusterWide, labelsOf, namespaced } from '../manifest-helpers.ts'
import { account, rbac, subject } from '../service-account.ts'
import { app } from './deployment.ts'

export function rights(): Manifest[] {
  return [
    ...account(app, 'system:metrics-server', [
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
    ]),
    reader,
    // It lets the API say who asks, and whether they may.
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: clusterWide('metrics-server:system:auth-delegator', app),
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'system:auth-delegator' },
      subjects: [subject(app)],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: namespaced('metrics-server-auth-reader', app),
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'extension-apiserver-authentication-reader' },
      subjects: [subject(app)],
    },
  ]
}

/** For people: whoever may view a namespace may also view what its pods use. */
const reader: Manifest = {
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: {
    name: 'system:aggregated-metrics-reader',
    labels: {
      ...labelsOf(app),
      ...Object.fromEntries(
        ['view', 'edit', 'admin'].map((role) => [`${rbac}/aggregate-to-${role}`, 'true']),
      ),
    },
  },
  rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
}
