import { HyperkubeError } from '../kit/errors.ts'
import { selectControllers } from '../manager/select-controllers.ts'
import { controllers } from '../manager/table.ts'
import type { Problem, ClusterRule } from '../spec/check-cluster.ts'
import type { Cluster } from '../spec/cluster.ts'

/** Checks the controllers of cluster.yml against the controllers of this release. */
export const controllerRules: readonly ClusterRule[] = [checkControllerNames, checkSnapshotController]

function checkControllerNames({ spec }: Cluster): Problem[] {
  if (spec.manager === 'none') return []
  return spec.manager.controllers.flatMap((pattern, index): Problem[] => {
    try {
      selectControllers(controllers, [pattern])
      return []
    } catch (error) {
      if (!(error instanceof HyperkubeError)) throw error
      const { code, message, hint } = error
      const path = ['spec', 'manager', 'controllers', index]
      return [{ code, severity: 'error', path, message, ...(hint === undefined ? {} : { hint }) }]
    }
  })
}

/**
 * Reports an error if snapshots are scheduled but the controller that takes them is disabled. Otherwise the
 * operator would notice only when a snapshot is needed.
 */
function checkSnapshotController(cluster: Cluster): Problem[] {
  const { manager, etcd } = cluster.spec
  if (etcd.snapshots === undefined || checkControllerNames(cluster).length > 0) return []
  const enabled = manager === 'none' ? [] : selectControllers(controllers, manager.controllers)
  if (enabled.some(({ name }) => name === 'snapshot-schedule')) return []
  return [
    {
      code: 'SPEC_SNAPSHOTS_NOT_TAKEN',
      severity: 'error',
      path: ['spec', 'etcd', 'snapshots'],
      message: 'has no effect, because the controller snapshot-schedule is disabled',
      hint: 'enable snapshot-schedule in spec.manager.controllers, or remove spec.etcd.snapshots',
    },
  ]
}
