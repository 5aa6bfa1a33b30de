import { flannelGroup, kubeProxyGroup, kubeRouterGroup } from '../contract/node-users.ts'
import { agentUser, renewalSigner } from '../contract/renewal.ts'
import { windowsBuildLabel, windowsBuildVersion, windowsServers } from '../contract/windows-host.ts'
import { settleAll } from '../kit/concurrency.ts'
import type { KubeClient } from './client.ts'
import { crdGroup } from './crd.ts'
import { flannelPolicy } from './flannel-policy.ts'
import type { KubeObject, Manifest } from './object.ts'
import { buildRole, buildRoleBinding } from './rbac.ts'
import { removedHostsPolicy } from './removed-hosts.ts'
import type { KubeCallOptions } from './request.ts'
import { applyObject } from './write-objects.ts'

export interface BaseObjectsSpec {
  /** True if the cluster has Windows nodes. Their pods need runtime classes. */
  readonly windows: boolean
}

/**
 * Builds the objects that every cluster needs first: RBAC for operators and for hyperkube's own programs, and
 * runtime classes for Windows.
 */
export function buildBaseObjects({ windows }: BaseObjectsSpec): Manifest[] {
  return [
    ...flannelRbac,
    ...flannelPolicy,
    ...removedHostsPolicy,
    kubeProxyRbac,
    ...kubeRouterRbac,
    ...apiserverProxyRbac,
    ...agentRbac,
    // Allows the API server to call kubelets, for example for `kubectl logs`.
    buildRoleBinding('hyperkube:kubelet-api', 'system:kubelet-api-admin', {
      kind: 'User',
      name: 'kube-apiserver-kubelet-client',
    }),
    // Unlike membership in system:masters, this binding can be revoked.
    buildRoleBinding('hyperkube:admins', 'cluster-admin', { kind: 'Group', name: 'hyperkube:admins' }),
    ...(windows ? windowsRuntimeClasses : []),
  ]
}

/**
 * Lets flanneld read all nodes and patch the status of any node. `flannelPolicy` then limits each flanneld to
 * patches of its own node.
 */
const flannelRbac: readonly Manifest[] = [
  buildRole(flannelGroup, [
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
  ]),
  buildRoleBinding(flannelGroup, flannelGroup, { kind: 'Group', name: flannelGroup }),
]

/** Each node has a kube-proxy user of its own, so audit logs show which node sent a request. */
const kubeProxyRbac = buildRoleBinding(kubeProxyGroup, 'system:node-proxier', {
  kind: 'Group',
  name: kubeProxyGroup,
})

/** kube-router only reads: policies, and the pods, namespaces and nodes to which they apply. */
const kubeRouterRbac: readonly Manifest[] = [
  buildRole(kubeRouterGroup, [
    { apiGroups: [''], resources: ['namespaces', 'pods', 'services'], verbs: ['list', 'watch'] },
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['list', 'watch'] },
    // kube-router does not start before it has read these, although only its service proxy uses them.
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ]),
  buildRoleBinding(kubeRouterGroup, kubeRouterGroup, { kind: 'Group', name: kubeRouterGroup }),
]

/** The API server proxies may only read the addresses of all API servers. */
const apiserverProxyRbac: readonly Manifest[] = [
  buildRole(
    'hyperkube:apiserver-proxies',
    [
      {
        apiGroups: ['discovery.k8s.io'],
        resources: ['endpointslices'],
        // The API servers publish their addresses in the EndpointSlice of this name.
        resourceNames: ['kubernetes'],
        verbs: ['get', 'list', 'watch'],
      },
    ],
    'default',
  ),
  buildRoleBinding(
    'hyperkube:apiserver-proxies',
    'hyperkube:apiserver-proxies',
    { kind: 'Group', name: 'hyperkube:apiserver-proxies' },
    'default',
  ),
]

/**
 * Lets agents on control planes approve and sign certificate renewal requests of nodes. These agents read the
 * requests with the permissions of their own node. They read Host objects, because the Host object of a node
 * lists the certificates that the node may renew.
 */
const agentRbac: readonly Manifest[] = [
  buildRole(agentUser, [
    { apiGroups: [crdGroup], resources: ['hosts'], verbs: ['get'] },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
      verbs: ['update'],
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: [renewalSigner],
      verbs: ['approve', 'sign'],
    },
  ]),
  buildRoleBinding(agentUser, agentUser, { kind: 'User', name: agentUser }),
]

/**
 * RuntimeClasses for Windows pods: `windows` selects any Windows node, `windows-<build>` only nodes of that
 * build. All supported builds get a class, because a pod without a matching node stays Pending, but a pod
 * whose class is missing is rejected.
 */
const windowsRuntimeClasses: readonly Manifest[] = [
  buildWindowsRuntimeClass('windows', {}),
  ...windowsServers.map(({ build }) =>
    buildWindowsRuntimeClass(`windows-${build}`, { [windowsBuildLabel]: windowsBuildVersion(build) }),
  ),
]

function buildWindowsRuntimeClass(name: string, labels: Readonly<Record<string, string>>): Manifest {
  return {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name },
    handler: 'runhcs-wcow-process',
    scheduling: {
      nodeSelector: { 'kubernetes.io/os': 'windows', ...labels },
      tolerations: [{ key: 'os', operator: 'Equal', value: 'windows', effect: 'NoSchedule' }],
    },
  }
}

/**
 * Applies the base objects and overrides other field managers, because RBAC rules must be exactly as planned.
 * The first call needs a user in system:masters; later calls need a user in hyperkube:admins.
 */
export async function applyBaseObjects(
  client: KubeClient,
  spec: BaseObjectsSpec = { windows: false },
  options: KubeCallOptions = {},
): Promise<KubeObject[]> {
  return settleAll(
    buildBaseObjects(spec).map(async (object) => applyObject(client, object, { ...options, force: true })),
  )
}
