import { findUnreadyReason } from '../../addons/readiness.ts'
import { mapWithConcurrency } from '../../catalog/map-with-concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createUntypedKind } from '../../kube/object.ts'
import { findObject } from '../../kube/read-objects.ts'
import { patchObject } from '../../kube/write-objects.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type RotationWaitOptions, pollRotation } from './poll.ts'
import { formatWorkloadName, type Workload } from './stale-pods.ts'

/**
 * Annotation that `kubectl rollout restart` sets on the pod template. The changed template makes the
 * controller replace all pods.
 */
const annotation = 'kubectl.kubernetes.io/restartedAt'
/** Milliseconds for all workloads together. Images are not pulled, because the nodes already have them. */
const timeoutMs = 600_000

/** Restarts workloads and waits until all of them are ready. */
export async function restartWorkloads(
  api: KubeClient,
  workloads: readonly Workload[],
  wait: RotationWaitOptions,
): Promise<void> {
  const { now, signal } = wait
  const annotations = { [annotation]: now().toISOString() }
  const patch = { spec: { template: { metadata: { annotations } } } }
  await mapWithConcurrency(8, workloads, async ({ kind, namespace, name }) =>
    patchObject(api, createUntypedKind('apps/v1', kind), { namespace, name }, patch, { signal }),
  )
  await pollRotation(
    wait,
    timeoutMs,
    async () => {
      for (const workload of workloads) {
        const { kind, namespace, name } = workload
        const found = await findObject(
          api,
          createUntypedKind('apps/v1', kind),
          { namespace, name },
          { signal },
        )
        const reason = found === undefined ? undefined : findUnreadyReason(found)
        if (reason !== undefined) return `${formatWorkloadName(workload)}: ${reason}`
      }
      return undefined
    },
    (reason) =>
      new HyperkubeError('KEYS_PODS_NOT_READY', `waited ten minutes for restarted pods: ${reason}`, {
        hint: 'kubectl describe tells why; then the same command again',
      }),
  )
}
