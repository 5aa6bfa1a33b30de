import { pollUntil } from '../../src/kit/poll.ts'
import type { Access, SetupContext } from './contender.ts'
import { KubeApi } from './kube-api.ts'

interface RbacObject {
  readonly apiVersion: 'rbac.authorization.k8s.io/v1'
  readonly kind: 'ClusterRole' | 'ClusterRoleBinding'
  readonly metadata: { readonly name: string }
  readonly [field: string]: unknown
}

const group = '/apis/rbac.authorization.k8s.io/v1'

/**
 * RBAC objects for flannel and kube-router, and for requests from the API server to kubelets. Without the
 * last ones, kubelets refuse requests for logs and exec.
 */
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
  { path: `${group}/clusterrolebindings`, object: buildBinding('flannel', 'flannel', 'flannel') },
  {
    path: `${group}/clusterroles`,
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'kube-router' },
      rules: [
        {
          apiGroups: [''],
          resources: ['nodes', 'pods', 'namespaces', 'services'],
          verbs: ['get', 'list', 'watch'],
        },
        { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['list', 'watch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ],
    },
  },
  { path: `${group}/clusterrolebindings`, object: buildBinding('kube-router', 'kube-router', 'kube-router') },
  {
    path: `${group}/clusterrolebindings`,
    object: buildBinding('kubelet-api', 'system:kubelet-api-admin', 'kube-apiserver-kubelet-client'),
  },
]

function buildBinding(name: string, role: string, user: string): RbacObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  }
}

/** Creates the RBAC objects, and retries until the first API server accepts them. */
export async function grantPermissions(
  { clusterHosts }: Pick<SetupContext, 'clusterHosts'>,
  access: Access,
  signal: AbortSignal,
): Promise<void> {
  const api = new KubeApi(`https://${clusterHosts.controlPlanes[0]?.address}:6443`, access.api)
  try {
    for (const { path, object } of bindings) {
      await pollUntil(
        `${object.kind} ${object.metadata.name}`,
        async () => api.ensure(path, object).then(() => true),
        {
          timeoutMs: 300_000,
          signal,
        },
      )
    }
  } finally {
    api.close()
  }
}
