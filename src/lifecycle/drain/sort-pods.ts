import { trialLabel } from '../smoke-test/smoke-test-pods.ts'
import { controllerOf, isEnding, type Pod } from './pod.ts'

/** What becomes of the pods of a node when it is emptied. */
export interface SortedPods {
  /** They belong to their node, or have ended already. */
  readonly staying: readonly Pod[]
  /** Ended here, and made anew elsewhere by whoever made them. */
  readonly moving: readonly Pod[]
  /** Ended here, and gone for good: nobody makes them anew. */
  readonly unmanaged: readonly Pod[]
}

export function sortPods(pods: readonly Pod[]): SortedPods {
  const going = pods.filter((pod) => !stays(pod))
  return {
    staying: pods.filter(stays),
    moving: going.filter(isManaged),
    unmanaged: going.filter((pod) => !isManaged(pod)),
  }
}

function stays(pod: Pod): boolean {
  const { metadata } = pod
  // What a kubelet runs from a file of its own: the API only shows it.
  const isMirror = metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
  // It would be made anew at once, on the same node.
  return isMirror || hasEnded(pod) || controllerOf(pod)?.kind === 'DaemonSet'
}

/** One that is being removed has ended when its kubelet has tidied up, also where others have not done their part. */
function hasEnded(pod: Pod): boolean {
  const { status, metadata } = pod
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  return isOver && (!isEnding(pod) || metadata.finalizers.length > 0)
}

/** Or is gone in any case. Pods of our own trials have no controller, and nobody misses them. */
function isManaged(pod: Pod): boolean {
  return controllerOf(pod) !== undefined || isEnding(pod) || pod.metadata.labels?.[trialLabel] !== undefined
}

/** Whether the scheduler puts such a pod also on a node that is cordoned. */
export function ignoresCordon({ spec }: Pod): boolean {
  return spec.tolerations.some(
    ({ key = '', operator, effect = '' }) =>
      (key === '' ? operator === 'Exists' : key === 'node.kubernetes.io/unschedulable') &&
      (effect === '' || effect === 'NoSchedule'),
  )
}
