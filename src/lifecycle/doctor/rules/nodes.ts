import { listNodeProblems, type NodeProblem } from '../../cluster-objects/node.ts'
import type { HostEndpoint } from '../../inputs/host-endpoints.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import { type Diagnosis, nodeProblemCodes } from '../diagnosis.ts'

/** Finds nodes under pressure or without a network. The condition Ready of such a node may still be true. */
export function findNodeProblems({ hosts, nodes = [] }: ClusterHealthObservation): Diagnosis[] {
  return hosts.flatMap(({ endpoint }) => {
    const node = nodes.find(({ metadata }) => metadata.name === endpoint.node)
    return node === undefined ? [] : listNodeProblems(node).flatMap((one) => diagnoseProblem(endpoint, one))
  })
}

function diagnoseProblem(
  { host, node, os, flannel }: HostEndpoint,
  { condition, text, message, since, taint }: NodeProblem,
): Diagnosis[] {
  const code = nodeProblemCodes[condition]
  if (code === undefined) return []
  return [
    {
      code,
      // Without the taint the scheduler still assigns pods to the node, so this is only a warning.
      severity: taint === undefined ? 'warning' : 'error',
      what: `node ${node} has ${text}${taint === undefined ? '' : ', and accepts no new pods'}`,
      ...(since === undefined ? {} : { since }),
      host,
      evidence: [
        `node condition ${condition}: ${message ?? (taint === undefined ? 'true' : 'no longer true')}`,
        ...(taint === undefined ? [] : [`taint ${taint} prevents new pods`]),
      ],
      command:
        condition === 'NetworkUnavailable' && flannel !== true
          ? `kubectl describe node ${node}`
          : suggestCommand({ code, host, os }),
      needsOperator: false,
    },
  ]
}
