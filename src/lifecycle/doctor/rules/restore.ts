import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'

const code = 'ETCD_RESTORE_UNFINISHED'

/**
 * Reports an etcd restore that was started and has not ended. Its hosts keep etcd, API servers and kubelets stopped, so
 * the lost quorum is not a reason for a recovery.
 */
export function findUnfinishedRestore({ hosts }: ClusterHealthObservation): Diagnosis[] {
  const evidence = hosts.flatMap(({ endpoint: { host }, agent }) => {
    if (agent.state !== 'reachable' || agent.restore === undefined) return []
    const { state, snapshot } = agent.restore
    const progress = state === 'data-restored' ? 'has the restored data' : 'began to restore the data'
    return [`${host} ${progress} of the database ${snapshot.slice(0, 12)}`]
  })
  if (evidence.length === 0) return []
  return [
    {
      code,
      severity: 'error',
      what: 'an etcd restore was started and is not finished',
      component: 'etcd',
      evidence,
      command: suggestCommand({ code }),
      needsOperator: true,
    },
  ]
}
