import { advanceRollout, type ClusterReport, startRollout } from '../../fleet/advance-rollout.ts'
import type { RolloutStatus } from '../../fleet/rollout-resource.ts'
import { selectMembers } from '../../fleet/select-clusters.ts'
import { mapWithConcurrency } from '../../kit/concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { listObjectPages } from '../../kube/read-objects.ts'
import { patchObject, replaceObject } from '../../kube/write-objects.ts'
import { type ControllerContext, type ControllerDefinition, createReconciler } from '../controller.ts'
import { Heartbeats } from '../heartbeats.ts'
import { fleetCrds, fleetGroup, managedClusterKind, rolloutKind } from '../fleet/resources.ts'
import {
  approvalWatch,
  clusterSetWatch,
  managedClusterWatch,
  memberSilentMs,
  rolloutWatch,
} from '../fleet/watch-specs.ts'

/** Milliseconds for which reports of clusters are collected before a rollout continues. */
const batchMs = 1_000
/** Milliseconds until a rollout that waits for clusters or for a pause is checked again. */
const recheckMs = 10_000
const maxConcurrentPatches = 16

/**
 * Works through the waves of Rollout objects. It only permits clusters to apply the document that their
 * operator signed, so it needs no access to them.
 */
export const fleetRollout: ControllerDefinition = {
  name: 'fleet-rollout',
  aliases: [],
  summary: 'permits managed clusters to apply their documents, in the waves of Rollout objects',
  byDefault: false,
  watches: [managedClusterWatch, clusterSetWatch, rolloutWatch, approvalWatch],
  rules: [
    { apiGroups: [fleetGroup], resources: ['clusters'], verbs: ['list', 'patch'] },
    { apiGroups: [fleetGroup], resources: ['rollouts/status'], verbs: ['update'] },
  ],
  crds: fleetCrds,
  build(context) {
    const { client, now } = context
    const { reports, sets, rollouts, approvals } = listen(context)
    return createReconciler(context, {
      async reconcile(name) {
        const rollout = rollouts.get(name)
        if (rollout === undefined) return undefined
        const { spec, resourceVersion } = rollout
        const set = sets.get(spec.clusterSet)
        if (rollout.status === undefined && set === undefined) return { requeueAfter: recheckMs }
        const isBeginning = rollout.status === undefined || spec.attempt > rollout.status.attempt
        const all = isBeginning ? await addNewestDocuments(client, reports()) : reports()
        const before =
          rollout.status ?? startRollout(spec, selectMembers(set?.selector ?? {}, all.values()), now())
        const approvedWaves = new Set(
          [...approvals.keys()].flatMap((key) => {
            const approval = approvals.get(key)
            // An Approval of a deleted Rollout does not count for a new one with the same name.
            const isValid =
              approval?.rollout === name && (approval.created ?? 0) >= (rollout.created ?? Infinity)
            return isValid ? [approval.wave] : []
          }),
        )
        const { status, permits } = advanceRollout(before, { spec, reports: all, approvedWaves, now: now() })
        // The status is stored first. If the process ends before the patches, the next leader sends them.
        if (status !== rollout.status) await writeStatus({ name, resourceVersion }, spec, status)
        await mapWithConcurrency(maxConcurrentPatches, permits, async ({ cluster, generation }) =>
          patchObject(
            client,
            managedClusterKind,
            { name: cluster },
            { spec: { permitted: { generation, rollout: name } } },
            { idempotent: true },
          ),
        )
        return status.state === 'running' || status.state === 'waiting'
          ? { requeueAfter: recheckMs }
          : undefined
      },
    })

    /** Throws if the Rollout has changed since it was read; the queue then retries with the new version. */
    async function writeStatus(
      metadata: { readonly name: string; readonly resourceVersion: string | undefined },
      spec: unknown,
      status: RolloutStatus,
    ): Promise<void> {
      const { apiVersion, kind } = rolloutKind
      await replaceObject(client, { apiVersion, kind, metadata, spec, status }, { subresource: 'status' })
    }
  },
}

/** Page size of a list of Cluster objects. Each contains a document of up to 900,000 bytes. */
const clustersPerPage = 20

/**
 * Adds the generations of the newest documents from the API. The informer may not know yet which documents were
 * published immediately before the rollout was created.
 */
async function addNewestDocuments(
  client: KubeClient,
  reports: ReadonlyMap<string, ClusterReport>,
): Promise<ReadonlyMap<string, ClusterReport>> {
  const newest = new Map(reports)
  for await (const { items } of listObjectPages(client, managedClusterKind, {}, clustersPerPage)) {
    for (const { metadata, spec } of items) {
      const report = newest.get(metadata.name)
      if (report !== undefined) newest.set(metadata.name, { ...report, desired: spec.desired?.generation })
    }
  }
  return newest
}

function listen(context: ControllerContext) {
  const { queue, getInformer } = context
  const [clusters, sets, rollouts, approvals] = [
    getInformer(managedClusterWatch),
    getInformer(clusterSetWatch),
    getInformer(rolloutWatch),
    getInformer(approvalWatch),
  ]
  const heartbeats = new Heartbeats({ ...context, silentMs: memberSilentMs })
  const enqueueAll = (): void => {
    for (const key of rollouts.keys()) {
      const state = rollouts.get(key)?.status?.state
      if (state !== 'stopped' && state !== 'done') queue.addAfter(key, batchMs)
    }
  }
  clusters.listen((change) => {
    if (change.type === 'deleted') heartbeats.forget(change.key)
    else heartbeats.observe(change.object)
    enqueueAll()
  })
  sets.listen(enqueueAll)
  approvals.listen(enqueueAll)
  rollouts.listen(({ key }) => queue.addAfter(key, batchMs))
  const reports = (): ReadonlyMap<string, ClusterReport> =>
    new Map(
      [...clusters.keys()].flatMap((key) => {
        const report = clusters.get(key)
        if (report === undefined) return []
        return [[key, heartbeats.isSilent(key) ? { ...report, health: 'unknown' as const } : report]]
      }),
    )
  return { reports, sets, rollouts, approvals }
}
