import type { Stage } from '../contract/stage.ts'
import { hasStageChanges, listHostNames, takesPartInStage } from './host.ts'
import type { ClusterState } from './cluster-state.ts'
import { type RolloutStep, buildApplyStep } from './step.ts'

/**
 * Hosts that only delete old components of a stage. No peer relies on these, so all such hosts share one
 * step.
 */
export function buildLeftoverSteps(
  { reachableHosts }: ClusterState,
  ...stages: readonly Stage[]
): RolloutStep[] {
  return stages.flatMap((stage) => {
    const hosts = listHostNames(
      reachableHosts.filter((host) => hasStageChanges(host, stage) && !takesPartInStage(host, stage)),
    )
    return hosts.length === 0 ? [] : [{ ...buildApplyStep({ hosts, stage }), id: `${stage}/leftovers` }]
  })
}
