import { unready } from '../../addons/readiness.ts'
import { mapAtMost } from '../../catalog/map-with-concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { kindOf } from '../../kube/object.ts'
import { find } from '../../kube/read-objects.ts'
import { merge } from '../../kube/write-objects.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type Patience, waitPatiently } from './poll.ts'
import { nameOf, type Workload } from './stale-pods.ts'

/** What `kubectl rollout restart` writes: pods of another template take the place of those that are there. */
const annotation = 'kubectl.kubernetes.io/restartedAt'
/** For all of them together: images are there already. */
const within = 600_000

/** Has pods made anew, one after the other as each workload says, and waits until all of them are ready. */
export async function restartAll(
  api: KubeClient,
  workloads: readonly Workload[],
  patience: Patience,
): Promise<void> {
  const { now, signal } = patience
  const annotations = { [annotation]: now().toISOString() }
  const patch = { spec: { template: { metadata: { annotations } } } }
  await mapAtMost(8, workloads, async ({ kind, namespace, name }) =>
    merge(api, kindOf('apps/v1', kind), { namespace, name }, patch, { signal }),
  )
  await waitPatiently(
    patience,
    within,
    async () => {
      for (const workload of workloads) {
        const { kind, namespace, name } = workload
        const found = await find(api, kindOf('apps/v1', kind), { namespace, name }, { signal })
        const reason = found === undefined ? undefined : unready(found)
        if (reason !== undefined) return `${nameOf(workload)}: ${reason}`
      }
      return undefined
    },
    (reason) =>
      new HyperkubeError('KEYS_PODS_NOT_READY', `waited ten minutes for pods to be made anew: ${reason}`, {
        hint: 'kubectl describe tells why; then the same command again',
      }),
  )
}
