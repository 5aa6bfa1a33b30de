import { stringify } from 'yaml'
import type { HostRole } from '../../spec/host.ts'
import { addFileHeader } from './file-header.ts'

/** The settings of a cluster that init asks for. */
export interface ClusterDraft {
  readonly name: string
  readonly kubernetes: string
  readonly hosts: readonly HostDraft[]
  readonly network?: NetworkDraft
}

export interface HostDraft {
  readonly user?: string | undefined
  readonly address: string
  readonly roles: readonly HostRole[]
}

export interface NetworkDraft {
  readonly pods: string
  readonly services: string
}

export function renderClusterDraft({ name, kubernetes, hosts, network }: ClusterDraft): string {
  return addFileHeader(
    stringify({
      apiVersion: 'hyperkube.dev/v1',
      kind: 'Cluster',
      metadata: { name },
      spec: { kubernetes, hosts: nameHosts(hosts), ...(network === undefined ? {} : { network }) },
    }),
  )
}

/** Names hosts by role: cp1, cp2, etcd1, w1. */
function nameHosts(hosts: readonly HostDraft[]): object[] {
  const counts = new Map<string, number>()
  return hosts.map(({ user, address, roles }) => {
    const prefix = roles.includes('control-plane') ? 'cp' : roles.includes('etcd') ? 'etcd' : 'w'
    const count = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, count)
    return { name: `${prefix}${count}`, address, roles, ...(user === undefined ? {} : { ssh: { user } }) }
  })
}
