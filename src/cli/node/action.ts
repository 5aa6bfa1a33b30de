import { buildNodeUnknownError } from '../../lifecycle/drain/cordon.ts'
import { listClusterEndpoints } from '../../lifecycle/inputs/host-endpoints.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext, ExitCode, Invocation } from '../command/command.ts'

/** Arguments of a `hyperkube node` action. */
export interface NodeInvocation {
  readonly context: CommandContext
  readonly options: Invocation['options']
  readonly cluster: Cluster
  /** Name as it was typed: a host in cluster.yml, or a node. */
  readonly name: string
}

export type NodeAction = (invocation: NodeInvocation) => Promise<ExitCode>

/**
 * Returns the name of the Node object. A name that is not in cluster.yml is returned unchanged, because a
 * node may still exist after its host was removed from cluster.yml.
 */
export function resolveNodeName({ cluster, name }: Pick<NodeInvocation, 'cluster' | 'name'>): string {
  const endpoint = listClusterEndpoints(cluster).find(({ host }) => host === name)
  if (endpoint !== undefined && endpoint.node === undefined) throw buildNodeUnknownError(name)
  return endpoint?.node ?? name
}
