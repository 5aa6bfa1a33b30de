import { stringify } from 'yaml'
import type { Role } from '../../spec/host.ts'
import { clusterText } from './file-header.ts'

/** What a person says of a cluster to begin with. */
export interface FirstCluster {
  readonly name: string
  readonly kubernetes: string
  readonly hosts: readonly FirstHost[]
  readonly network?: FirstNetwork
}

export interface FirstHost {
  readonly user?: string | undefined
  readonly address: string
  readonly roles: readonly Role[]
}

export interface FirstNetwork {
  readonly pods: string
  readonly services: string
}

export function firstFile({ name, kubernetes, hosts, network }: FirstCluster): string {
  return clusterText(
    stringify({
      apiVersion: 'hyperkube.dev/v1',
      kind: 'Cluster',
      metadata: { name },
      spec: { kubernetes, hosts: named(hosts), ...(network === undefined ? {} : { network }) },
    }),
  )
}

/** Names hosts by what they are for: cp1, cp2, etcd1, w1. */
function named(hosts: readonly FirstHost[]): object[] {
  const counts = new Map<string, number>()
  return hosts.map(({ user, address, roles }) => {
    const prefix = roles.includes('control-plane') ? 'cp' : roles.includes('etcd') ? 'etcd' : 'w'
    const count = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, count)
    return { name: `${prefix}${count}`, address, roles, ...(user === undefined ? {} : { ssh: { user } }) }
  })
}
