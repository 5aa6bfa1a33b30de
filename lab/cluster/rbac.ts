import { until } from '../../src/kit/poll-until.ts'
import type { Access, Ground } from './contender.ts'
import { KubeApi } from './kube-api.ts'

interface RbacObject {
  readonly apiVersion: 'rbac.authorization.k8s.io/v1'
  readonly kind: 'ClusterRole' | 'ClusterRoleBinding'
  readonly metadata: { readonly name: string }
  readonly [field: string]: unknown
}

const group = '/apis/rbac.authorization.k8s.io/v1'

/** The rights of flannel, and of the API server at the kubelets: without the second, logs and exec are refused. */
const bindings: readonly { readonly path: string; readonly object: RbacObject }[] = [
  {
    path: `${group}/clusterroles`,
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'flannel' },
      rules: [
        { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
      ],
    },
  },
  { path: `${group}/clusterrolebindings`, object: bind('flannel', 'flannel', 'flannel') },
  {
    path: `${group}/clusterrolebindings`,
    object: bind('kubelet-api', 'system:kubelet-api-admin', 'kube-apiserver-kubelet-client'),
  },
]

function bind(name: string, role: string, user: string): RbacObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  }
}

/** As soon as an API server takes them. */
export async function grantRights(
  { cast }: Pick<Ground, 'cast'>,
  access: Access,
  signal: AbortSignal,
): Promise<void> {
  const api = new KubeApi(`https://${cast.controlPlanes[0]?.address}:6443`, access.api)
  try {
    for (const { path, object } of bindings) {
      await until(
        `${object.kind} ${object.metadata.name}`,
        async () => api.ensure(path, object).then(() => true),
        {
          within: 300_000,
          signal,
        },
      )
    }
  } finally {
    api.close()
  }
}
