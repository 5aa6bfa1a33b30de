import { agentUser, renewalSigner } from '../contract/renewal.ts'
import { windowsBuildLabel, windowsBuildVersion, windowsServers } from '../contract/windows-build.ts'
import { settleAll } from '../kit/settle-all.ts'
import type { KubeClient } from './client.ts'
import type { KubeObject, Manifest } from './object.ts'
import { binding, role } from './rbac.ts'
import type { CallOptions } from './request.ts'
import { apply } from './write-objects.ts'

export interface BaseWish {
  /** Whether there are Windows nodes, and pods that want to say that they are for them. */
  readonly windows: boolean
}

/** What every cluster has of us before anything else: the rights of our own programs, and of people. */
export function baseObjects({ windows }: BaseWish): Manifest[] {
  return [
    ...flannel,
    ...apiserverProxies,
    ...agents,
    // Without it the API server may not ask kubelets, and nobody sees logs.
    binding('hyperkube:kubelet-api', 'system:kubelet-api-admin', {
      kind: 'User',
      name: 'kube-apiserver-kubelet-client',
    }),
    // Unlike system:masters, this can be taken away again.
    binding('hyperkube:admins', 'cluster-admin', { kind: 'Group', name: 'hyperkube:admins' }),
    ...(windows ? windowsRuntimeClasses : []),
  ]
}

/** Learns of nodes' networks, and enters its own address at its node. */
const flannel: readonly Manifest[] = [
  role('hyperkube:flannel', [
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
  ]),
  binding('hyperkube:flannel', 'hyperkube:flannel', { kind: 'User', name: 'hyperkube:flannel' }),
]

/** They learn where all API servers are, and nothing else. */
const apiserverProxies: readonly Manifest[] = [
  role(
    'hyperkube:apiserver-proxies',
    [
      {
        apiGroups: ['discovery.k8s.io'],
        resources: ['endpointslices'],
        // The API servers enter themselves under this name.
        resourceNames: ['kubernetes'],
        verbs: ['get', 'list', 'watch'],
      },
    ],
    'default',
  ),
  binding(
    'hyperkube:apiserver-proxies',
    'hyperkube:apiserver-proxies',
    { kind: 'Group', name: 'hyperkube:apiserver-proxies' },
    'default',
  ),
]

/** Those of control planes renew certificates of nodes that ask for it. What is asked they see as nodes do. */
const agents: readonly Manifest[] = [
  role(agentUser, [
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
  binding(agentUser, agentUser, { kind: 'User', name: agentUser }),
]

/**
 * A pod that names one of them goes to Windows nodes, past the taint that keeps others away: to any, or to those of a build,
 * because an image runs only on some. There is one for each build that we support, whether or not a host has it today: a pod
 * that waits for a host says so, and one whose class is gone is refused.
 */
const windowsRuntimeClasses: readonly Manifest[] = [
  windowsRuntimeClass('windows', {}),
  ...windowsServers.map(({ build }) =>
    windowsRuntimeClass(`windows-${build}`, { [windowsBuildLabel]: windowsBuildVersion(build) }),
  ),
]

function windowsRuntimeClass(name: string, labels: Readonly<Record<string, string>>): Manifest {
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
 * Fields that others have changed are taken back: rights must be what we say. The first time, only system:masters may do
 * it; from then on `hyperkube:admins` may.
 */
export async function applyBaseObjects(
  client: KubeClient,
  wish: BaseWish = { windows: false },
  options: CallOptions = {},
): Promise<KubeObject[]> {
  return settleAll(
    baseObjects(wish).map(async (object) => apply(client, object, { ...options, force: true })),
  )
}
