import { formatError, HyperkubeError } from '../../kit/errors.ts'
import type { Node } from '../../lifecycle/cluster-objects/node.ts'
import { listClusterEndpoints } from '../../lifecycle/inputs/host-endpoints.ts'
import { type NodeStatus, readNodeStatus } from '../../lifecycle/status/node-status.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openApi } from '../../workspace/open-cluster.ts'
import { exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { formatTable, type TableColumn } from '../command/table.ts'
import { nodeCell } from '../status/text.ts'
import type { NodeAction, NodeInvocation } from './action.ts'

/** A host of cluster.yml with its node, or a node without a host. */
export interface NodeRow {
  readonly name: string
  /** Roles in cluster.yml; empty for a node that cluster.yml does not name. */
  readonly roles: readonly string[]
  readonly address?: string
  /** Undefined if the API did not answer, or if the host runs no kubelet. */
  readonly node?: NodeStatus
}

/** `hyperkube node list`: lists hosts of cluster.yml and nodes of the API. */
export const listNodes: NodeAction = async ({ context, options, cluster }) => {
  const nodes = await readNodes({ context, options, cluster })
  const items = buildNodeRows(cluster, nodes)
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'NodeList', items }
  printResult(context.stdout, options.output, document, () => formatTable(columns, items, context.paint))
  return nodes === undefined || items.some(({ node }) => node?.healthy === false)
    ? exitCodes.failure
    : exitCodes.ok
}

/** Reads nodes from the API. Without the API, hosts are still listed, so the error is only printed. */
async function readNodes({
  context,
  options,
  cluster,
}: Omit<NodeInvocation, 'name'>): Promise<readonly Node[] | undefined> {
  try {
    await using opened = await openApi(context, options, cluster)
    return await opened.listNodes(context.signal)
  } catch (error) {
    const isConnection = error instanceof HyperkubeError && /^(?:SSH|KUBE)_/.test(error.code)
    if (context.signal.aborted || !isConnection) throw error
    context.stderr.write(`the API did not respond, so the state of nodes is unknown: ${formatError(error)}\n`)
    context.stderr.write('  → hyperkube doctor\n')
    return undefined
  }
}

/** Matches hosts with nodes. Nodes that no host of cluster.yml runs come last. */
export function buildNodeRows(cluster: Cluster, nodes: readonly Node[] | undefined): readonly NodeRow[] {
  const byName = new Map(nodes?.map((node) => [node.metadata.name, node]))
  const nodeNames = new Map(listClusterEndpoints(cluster).map(({ host, node }) => [host, node]))
  const hosts = cluster.spec.hosts.map(({ name, roles, address }): NodeRow => {
    const nodeName = nodeNames.get(name)
    const isKnown = nodes !== undefined && nodeName !== undefined
    return { name, roles, address, ...(isKnown && { node: readNodeStatus(byName.get(nodeName)) }) }
  })
  const planned = new Set(nodeNames.values())
  const others = (nodes ?? []).filter(({ metadata }) => !planned.has(metadata.name))
  return [
    ...hosts,
    ...others.map((node): NodeRow => ({ name: node.metadata.name, roles: [], node: readNodeStatus(node) })),
  ]
}

const columns: readonly TableColumn<NodeRow>[] = [
  { head: 'NAME', cell: ({ name }) => ({ text: name }) },
  {
    head: 'ROLES',
    cell: ({ roles }) =>
      roles.length === 0 ? { text: 'not in cluster.yml', colour: 'yellow' } : { text: roles.join(',') },
  },
  { head: 'ADDRESS', cell: ({ address }) => ({ text: address ?? '-' }) },
  { head: 'VERSION', cell: ({ node }) => ({ text: node?.version ?? '-' }) },
  { head: 'NODE', cell: ({ node }) => nodeCell(node) },
]
