import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'

/** Finds hosts where an operator has paused healing. */
export function findPausedHosts({ hosts }: ClusterHealthObservation): Diagnosis[] {
  return hosts.flatMap(({ endpoint: { host }, agent }): Diagnosis[] => {
    const paused = agent.state === 'reachable' ? agent.health?.paused : undefined
    if (paused === undefined) return []
    return [
      {
        code: 'HEAL_PAUSED',
        severity: 'warning',
        what: `nothing is healed on ${host} until ${paused.until}`,
        host,
        evidence: [`paused by ${paused.by}`],
        command: suggestCommand({ code: 'HEAL_PAUSED', host }),
        needsOperator: false,
      },
    ]
  })
}
