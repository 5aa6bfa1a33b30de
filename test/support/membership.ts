import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { etcdctl } from './etcdctl.ts'

interface MemberList {
  readonly members: readonly { readonly name: string; readonly isLearner?: boolean }[]
}

/** Lists the voting etcd members, as this host knows them. */
export async function listVoters(host: Host): Promise<string[]> {
  const { stdout } = await host.script(`${etcdctl} member list -w json`)
  const { members }: MemberList = JSON.parse(stdout)
  return members.flatMap(({ name, isLearner }) => (isLearner === true ? [] : [name])).toSorted()
}

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] }
  }[]
}

export async function listNodeNames(api: KubeApi): Promise<string[]> {
  const { items } = await api.get<NodeList>('/api/v1/nodes')
  return items.map(({ metadata }) => metadata.name).toSorted()
}

/** Lists the names of all Host objects. */
export async function listHostNames(api: KubeApi): Promise<string[]> {
  const { items } = await api.get<NodeList>('/apis/hyperkube.dev/v1/hosts')
  return items.map(({ metadata }) => metadata.name).toSorted()
}

/** Lists the names of nodes that are Ready. */
export async function listReadyNodes(api: KubeApi): Promise<string[]> {
  const { items } = await api.get<NodeList>('/api/v1/nodes')
  return items
    .filter(({ status }) =>
      status.conditions.some(({ type, status: state }) => type === 'Ready' && state === 'True'),
    )
    .map(({ metadata }) => metadata.name)
    .toSorted()
}
