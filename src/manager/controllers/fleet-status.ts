import { isDeepStrictEqual } from 'node:util'
import type { ClusterReport } from '../../fleet/advance-rollout.ts'
import type { ClusterSetStatus } from '../../fleet/rollout-resource.ts'
import { selectMembers } from '../../fleet/select-clusters.ts'
import { applyStatus } from '../../kube/write-objects.ts'
import { type ControllerDefinition, createReconciler } from '../controller.ts'
import { clusterSetKind, fleetCrds, fleetGroup } from '../fleet/resources.ts'
import { clusterSetWatch, managedClusterWatch, memberSilentMs } from '../fleet/watch-specs.ts'
import { Heartbeats } from '../heartbeats.ts'

const batchMs = 2000

export const fleetStatus: ControllerDefinition = {
  name: 'fleet-status',
  aliases: [],
  summary: 'counts the clusters of each ClusterSet by health, and those with their newest document',
  byDefault: false,
  watches: [managedClusterWatch, clusterSetWatch],
  rules: [{ apiGroups: [fleetGroup], resources: ['clustersets/status'], verbs: ['patch'] }],
  crds: fleetCrds,
  build(context) {
    const { queue, client } = context
    const clusters = context.getInformer(managedClusterWatch)
    const sets = context.getInformer(clusterSetWatch)
    const heartbeats = new Heartbeats({ ...context, silentMs: memberSilentMs })
    clusters.listen((change) => {
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.observe(change.object)
      for (const key of sets.keys()) queue.addAfter(key, batchMs)
    })
    sets.listen(({ key }) => queue.addAfter(key, batchMs))
    return createReconciler(context, {
      async reconcile(name) {
        const set = sets.get(name)
        if (set === undefined) return undefined
        const all = [...clusters.keys()].flatMap((key) => clusters.get(key) ?? [])
        const members = selectMembers(set.selector, all)
        const status = countClusters(
          members.map((one) => (heartbeats.isSilent(one.name) ? { ...one, health: 'unknown' } : one)),
        )
        if (!isDeepStrictEqual(status, set.status)) {
          const { apiVersion, kind } = clusterSetKind
          const manifest = { apiVersion, kind, metadata: { name }, status }
          await applyStatus(client, manifest, { force: true, manager: 'hyperkube-fleet-status' })
        }
        return { requeueAfter: memberSilentMs / 2 }
      },
    })
  },
}

/** Counts clusters by health. */
export function countClusters(
  members: readonly Pick<ClusterReport, 'health' | 'desired' | 'applied'>[],
): ClusterSetStatus {
  const count = (health: ClusterReport['health']): number =>
    members.filter((member) => member.health === health).length
  return {
    clusters: members.length,
    healthy: count('healthy'),
    degraded: count('degraded'),
    unhealthy: count('unhealthy'),
    unknown: count('unknown'),
    updated: members.filter(({ desired, applied }) => desired !== undefined && desired === applied).length,
  }
}
