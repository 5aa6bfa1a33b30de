import type { KubeObject } from '../kube/object.ts'
import { countPods, findUnreadyReason, type PodCount } from './readiness.ts'
import { describeReference, type ObjectReference, toReference } from './reference.ts'

/** Readiness of an installed addon. cluster.yml may no longer contain the addon. */
export interface AddonReadiness {
  readonly name: string
  readonly ready: boolean
  readonly reason?: string
  /** The workload that is not ready; undefined if another kind of object is not ready. */
  readonly workload?: UnreadyWorkload
}

/**
 * A Deployment, DaemonSet or StatefulSet that is not ready, with the numbers of its ready and desired pods.
 */
export interface UnreadyWorkload extends ObjectReference, PodCount {}

/** True if an addon does not work at all: none of its desired pods is ready. */
export function isAddonDown({ ready, workload }: AddonReadiness): boolean {
  return !ready && workload?.ready === 0 && workload.desired > 0
}

/**
 * Reads the readiness of an addon from its objects. If several objects are not ready, reports one without
 * ready pods if possible. Of several such objects it reports a DaemonSet, because nodes may need its pods.
 */
export function readReadiness(
  objects: readonly KubeObject[],
  notReadyNodes: number,
): Omit<AddonReadiness, 'name'> {
  const unready = objects.flatMap((object) => {
    const reason = findUnreadyReason(object, notReadyNodes)
    return reason === undefined ? [] : [{ reference: toReference(object), reason, pods: countPods(object) }]
  })
  const down = unready.filter(({ pods }) => pods?.ready === 0)
  const first = down.find(({ reference }) => reference.kind === 'DaemonSet') ?? down[0] ?? unready[0]
  if (first === undefined) return { ready: true }
  const { reference, reason, pods } = first
  return {
    ready: false,
    reason: `${describeReference(reference)}: ${reason}`,
    ...(pods === undefined ? {} : { workload: { ...reference, ...pods } }),
  }
}
