import { z } from 'zod'
import { flannelGroup, formatFlannelUser, formatKubeProxyUser } from '../contract/node-users.ts'
import { buildAdmissionPolicy } from './admission-policy.ts'
import type { KubeClient } from './client.ts'
import { formatAgentUser } from './host-resource.ts'
import { isKubeError } from './kube-error.ts'
import { type Kind, kubeObject, type Manifest } from './object.ts'
import { createObject, patchObject } from './write-objects.ts'

const reference = { namespace: 'kube-system', name: 'hyperkube-removed-hosts' } as const

const schema = kubeObject.extend({ data: z.record(z.string(), z.string()).optional() })

/** ConfigMap whose keys are the node names of removed hosts. The values say when each host was removed. */
export type RemovedHosts = z.infer<typeof schema>
const removedHostsKind: Kind<RemovedHosts> = { apiVersion: 'v1', kind: 'ConfigMap', schema }

/**
 * Prefixes of the users whose certificates a removed host still has. A user name is a prefix followed by the
 * node name.
 */
const userPrefixes = [formatAgentUser(''), formatFlannelUser(''), formatKubeProxyUser('')]

/**
 * Refuses writes of hosts that were removed from the cluster. Their certificates stay valid for up to a year,
 * because the API server cannot revoke certificates. Without this policy, the kubelet of a removed host could
 * register its node again.
 */
export const removedHostsPolicy: readonly Manifest[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: reference },
  ...buildAdmissionPolicy('removed-hosts.hyperkube.dev', {
    paramRef: reference,
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['*'],
            apiVersions: ['*'],
            resources: ['*/*'],
            operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
          },
        ],
      },
      matchConditions: [
        {
          name: 'node',
          expression: `['system:nodes', '${flannelGroup}'].exists(one, one in request.userInfo.groups) || request.userInfo.username.startsWith('${formatKubeProxyUser('')}')`,
        },
      ],
      validations: [
        {
          expression: `!has(params.data) || !params.data.exists(name, ${JSON.stringify(userPrefixes).replaceAll('"', "'")}.exists(prefix, request.userInfo.username == prefix + name))`,
          messageExpression: `request.userInfo.username + ' belongs to a host that was removed from the cluster'`,
          reason: 'Forbidden',
        },
      ],
    },
  }),
]

/** Returns the removed hosts whose names cluster.yml uses again. */
export function listReadmitted(object: unknown, nodes: ReadonlySet<string>): string[] {
  const { data = {} } = schema.partial().parse(object ?? {})
  return Object.keys(data).filter((name) => nodes.has(name))
}

export function isRemovedHosts({ kind, metadata }: Manifest): boolean {
  return kind === removedHostsKind.kind && metadata.name === reference.name
}

/** Refuses all further writes of the host to the API. */
export async function refuseRemovedHost(api: KubeClient, node: string, now: Date): Promise<void> {
  const data = { [node]: now.toISOString() }
  try {
    // `idempotent` allows retries. If the removed host was the leader of etcd, writes fail until etcd has
    // elected a new leader.
    await patchObject(api, removedHostsKind, reference, { data }, { idempotent: true })
  } catch (error) {
    // The ConfigMap may not exist yet, because lost hosts are removed before the objects of the cluster are
    // applied.
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error
    const { apiVersion, kind } = removedHostsKind
    await createObject(api, { apiVersion, kind, metadata: reference, data })
  }
}

/** Allows a host with the name of a removed host to join. */
export async function readmitHost(api: KubeClient, node: string): Promise<void> {
  await patchObject(api, removedHostsKind, reference, { data: { [node]: null } })
}
