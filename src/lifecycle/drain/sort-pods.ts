import { smokeTestLabel } from '../smoke-test/smoke-test-pods.ts'
import { findController, isTerminating, type Pod } from './pod.ts'

/** Pods of a node, grouped by what a drain does with them. */
export interface SortedPods {
  /** Pods that are not evicted: they belong to the node or have ended already. */
  readonly staying: readonly Pod[]
  /** Pods that are evicted and whose controllers create replacements elsewhere. */
  readonly moving: readonly Pod[]
  /** Pods that are evicted and not created again, because they have no controller. */
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
  // A mirror pod only represents a static pod of the kubelet.
  const isMirror = metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
  // A DaemonSet would create its pod on the same node again at once.
  return isMirror || hasEnded(pod) || findController(pod)?.kind === 'DaemonSet'
}

/**
 * True if the pod has ended and the drain need not wait for it. A terminating pod counts only if it has
 * finalizers, because otherwise it is about to disappear.
 */
function hasEnded(pod: Pod): boolean {
  const { status, metadata } = pod
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
  return isOver && (!isTerminating(pod) || metadata.finalizers.length > 0)
}

/**
 * True if the pod may be evicted without `force`: it has a controller, is already terminating, or is a smoke
 * test pod.
 */
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
