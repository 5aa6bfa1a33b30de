import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { listProbes } from './probes.ts'

/**
 * Finds full disks that no probe has reported. On a full disk the agent may have failed before it could
 * report.
 */
export function findFullDisks({ hosts }: ClusterHealthObservation): Diagnosis[] {
  return hosts.flatMap((observation) => {
    const { host, os } = observation.endpoint
    const isReported = listProbes(observation).some(
      ({ code, state }) => code === 'DISK_FULL' && (state === 'unhealthy' || state === 'degraded'),
    )
    if (isReported || observation.disks.length === 0) return []
    return [
      {
        code: 'DISK_FULL',
        severity: 'error',
        what: `a disk of ${host} is full`,
        host,
        evidence: observation.disks.map(
          ({ mounted, usedShare }) => `${mounted} is ${(usedShare * 100).toFixed(1)} % full`,
        ),
        command: suggestCommand({ code: 'DISK_FULL', host, os }),
        needsOperator: true,
      } as const,
    ]
  })
}
