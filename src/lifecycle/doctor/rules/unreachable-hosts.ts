import { explainNotReady } from '../../cluster-objects/node-readiness.ts'
import type { HostHealthObservation } from '../../observe/observe-host.ts'
import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'

/** Finds hosts that the operator cannot reach by ssh. */
export function findUnreachableHosts({ hosts, nodes }: ClusterHealthObservation): Diagnosis[] {
  return hosts.flatMap(
    ({ endpoint: { host, address, node }, unreachable }: HostHealthObservation): Diagnosis[] => {
      if (unreachable === undefined) return []
      const nodeObject = nodes?.find(({ metadata }) => metadata.name === node)
      const ready = nodeObject?.status?.conditions.find(({ type }) => type === 'Ready')
      const unready = nodeObject === undefined ? undefined : explainNotReady(nodeObject)
      const since = unready === undefined ? undefined : ready?.lastTransitionTime
      const isUnreachable = unreachable.code === 'HOST_UNREACHABLE'
      return [
        {
          code: unreachable.code,
          severity: 'error',
          what: isUnreachable ? `${host} is unreachable` : `${host} refuses the login`,
          host,
          ...(since === undefined ? {} : { since }),
          evidence: [
            `ssh to ${address}: ${unreachable.reason}`,
            ...(unready === undefined ? [] : [`node condition: ${unready}`]),
          ],
          command: unreachable.hint ?? suggestCommand({ code: unreachable.code, host }),
          needsOperator: true,
        },
      ]
    },
  )
}
