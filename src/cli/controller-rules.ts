import { HyperkubeError } from '../kit/errors.ts'
import { choose } from '../manager/select-controllers.ts'
import { controllers } from '../manager/table.ts'
import type { Problem, Rule } from '../spec/check-cluster.ts'
import type { Cluster } from '../spec/cluster.ts'

/** What a cluster.yml says of controllers, held against those that there are. */
export const controllerRules: readonly Rule[] = [existingControllers, snapshotsTaken]

function existingControllers({ spec }: Cluster): Problem[] {
  if (spec.manager === 'none') return []
  return spec.manager.controllers.flatMap((word, index): Problem[] => {
    try {
      choose(controllers, [word])
      return []
    } catch (error) {
      if (!(error instanceof HyperkubeError)) throw error
      const { code, message, hint } = error
      const path = ['spec', 'manager', 'controllers', index]
      return [{ code, severity: 'error', path, message, ...(hint === undefined ? {} : { hint }) }]
    }
  })
}

/** Whoever wishes for snapshots and gets none learns of it when one is needed. */
function snapshotsTaken(cluster: Cluster): Problem[] {
  const { manager, etcd } = cluster.spec
  if (etcd.snapshots === undefined || existingControllers(cluster).length > 0) return []
  const on = manager === 'none' ? [] : choose(controllers, manager.controllers)
  if (on.some(({ name }) => name === 'snapshot-schedule')) return []
  return [
    {
      code: 'SPEC_SNAPSHOTS_NOT_TAKEN',
      severity: 'error',
      path: ['spec', 'etcd', 'snapshots'],
      message: 'nobody would take them: the controller snapshot-schedule is off',
      hint: 'have it on in spec.manager.controllers, or take the schedule out',
    },
  ]
}
