import { noNode } from '../../lifecycle/drain/cordon.ts'
import { placesIn } from '../../lifecycle/host-endpoints.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Context, ExitCode, Invocation } from '../command.ts'

/** What `hyperkube node` was asked for. */
export interface NodeWish {
  readonly context: Context
  readonly options: Invocation['options']
  readonly cluster: Cluster
  /** As it was typed: of a host in cluster.yml, or of a node. */
  readonly name: string
}

export type NodeAction = (wish: NodeWish) => Promise<ExitCode>

/** What the API calls it. A node may outlive its place in the file. */
export function nodeOf({ cluster, name }: Pick<NodeWish, 'cluster' | 'name'>): string {
  const place = placesIn(cluster).find(({ host }) => host === name)
  if (place !== undefined && place.node === undefined) throw noNode(name)
  return place?.node ?? name
}
