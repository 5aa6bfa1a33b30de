import { smokeTestLabel } from '../smoke-test/smoke-test-pods.ts'
import { findController, isTerminating, type Pod } from './pod.ts'

/** What happens to the pods of a node when it is drained. */
export interface SortedPods {
  /** Pods that belong to the node or have ended already. */
  readonly staying: readonly Pod[]
  /** Evicted here and created again elsewhere by their controllers. */
  readonly moving: readonly Pod[]
  /** Evicted here and gone for good: they have no controller. */
  readonly unmanaged: readonly Pod[]
}

export function sortPods(pods: readonly Pod[]): SortedPods {
  const podsToEvict = pods.filter((pod) => !staysOnNode(pod))
  return {
    staying: pods.filter(staysOnNode),
    moving: podsToEvict.filter(isManaged),
    unmanaged: podsToEvict.filter((pod) => !isManaged(pod)),
  }
}

function staysOnNode(pod: Pod): boolean {
  const { metadata } = pod
  // A static pod of the kubelet: the API only mirrors it.
  const isMirror = metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
  // A DaemonSet would create its pod on the same node again at once.
  return isMirror || hasEnded(pod) || findController(pod)?.kind === 'DaemonSet'
}

/** A pod that is being deleted has ended when its kubelet has finished, even if other finalizers remain. */
function hasEnded(pod: Pod): boolean {
  const { status, metadata } = pod
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  return isOver && (!isTerminating(pod) || metadata.finalizers.length > 0)
}

/** Also true for pods that are already terminating. Smoke test pods have no controller and are not needed. */
function isManaged(pod: Pod): boolean {
  return (
    findController(pod) !== undefined ||
    isTerminating(pod) ||
    pod.metadata.labels?.[smokeTestLabel] !== undefined
  )
}

/** True if the scheduler may place this pod on a cordoned node. */
export function ignoresCordon({ spec }: Pod): boolean {
  return spec.tolerations.some(
    ({ key = '', operator, effect = '' }) =>
      (key === '' ? operator === 'Exists' : key === 'node.kubernetes.io/unschedulable') &&
      (effect === '' || effect === 'NoSchedule'),
  )
}
