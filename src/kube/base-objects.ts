import { agentUser, renewalSigner } from '../contract/renewal.ts'
import { windowsBuildLabel, windowsBuildVersion, windowsServers } from '../contract/windows-build.ts'
import { settleAll } from '../kit/settle-all.ts'
import type { KubeClient } from './client.ts'
import type { KubeObject, Manifest } from './object.ts'
import { buildRoleBinding, buildRole } from './rbac.ts'
import type { KubeCallOptions } from './request.ts'
import { applyObject } from './write-objects.ts'

export interface BaseObjectsSpec {
  /** Whether the cluster has Windows nodes, and therefore needs runtime classes for their pods. */
  readonly windows: boolean
}

/**
 * Objects that every cluster needs before all others: RBAC rules of hyperkube's own programs and of
 * operators.
 */
export function buildBaseObjects({ windows }: BaseObjectsSpec): Manifest[] {
  return [
    ...flannelRbac,
    ...apiserverProxyRbac,
    ...agentRbac,
    // Without this binding the API server may not call kubelets, and `kubectl logs` fails.
    buildRoleBinding('hyperkube:kubelet-api', 'system:kubelet-api-admin', {
      kind: 'User',
      name: 'kube-apiserver-kubelet-client',
    }),
    // Unlike membership in system:masters, this binding can be revoked.
    buildRoleBinding('hyperkube:admins', 'cluster-admin', { kind: 'Group', name: 'hyperkube:admins' }),
    ...(windows ? windowsRuntimeClasses : []),
  ]
}

/** Flannel reads the networks of all nodes and writes its own address to its node. */
const flannelRbac: readonly Manifest[] = [
  buildRole('hyperkube:flannel', [
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
  ]),
  buildRoleBinding('hyperkube:flannel', 'hyperkube:flannel', { kind: 'User', name: 'hyperkube:flannel' }),
]

/** The proxies read the addresses of all API servers, and nothing else. */
const apiserverProxyRbac: readonly Manifest[] = [
  buildRole(
    'hyperkube:apiserver-proxies',
    [
      {
        apiGroups: ['discovery.k8s.io'],
        resources: ['endpointslices'],
        // The API servers publish themselves under this name.
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
 * Agents on control planes approve and sign renewal requests of nodes. They read the requests with the
 * permissions of their node.
 */
const agentRbac: readonly Manifest[] = [
  buildRole(agentUser, [
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
 * A pod that names one of these classes runs on Windows nodes and tolerates their taint: on any of them, or
 * on those of one build, because an image runs only on some builds. There is a class for each supported
 * build, whether or not a host has it today. A pod that waits for a host reports so; a pod whose class is
 * missing is refused.
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
 * Forces the ownership of all fields, because RBAC rules must be exactly as planned. The first call needs
 * system:masters; later ones need `hyperkube:admins`.
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
