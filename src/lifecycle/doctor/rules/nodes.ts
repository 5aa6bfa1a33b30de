import { explainNotReady } from '../../cluster-objects/node-readiness.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'

/**
 * Finds nodes that are not ready. If the API does not answer, nothing is returned, because another rule
 * reports the outage.
 */
export function findUnreadyNodes({ hosts, nodes }: ClusterHealthObservation): Diagnosis[] {
  if (nodes === undefined) return []
  return hosts.flatMap(({ endpoint: { host, node: name } }): Diagnosis[] => {
    if (name === undefined) return []
    const node = nodes.find(({ metadata }) => metadata.name === name)
    const reason = explainNotReady(node)
    if (reason === undefined) return []
    const since = node?.status?.conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime
    return [
      {
        code: 'NODE_NOT_READY',
        severity: 'error',
        what: `node ${name} is not ready`,
        ...(since === undefined ? {} : { since }),
        host,
        evidence: [`node condition: ${reason}`],
        command: suggestCommand({ code: 'NODE_NOT_READY', host }),
        needsOperator: false,
      },
    ]
  })
}
