import { HyperkubeError } from '../../kit/errors.ts'
import { type Pause, pollWithProgress } from '../../kit/poll.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { objectExists } from '../../kube/read-objects.ts'
import { nodeKind, rolloutCordonReason } from '../cluster-objects/node.ts'
import { cordon } from './cordon.ts'
import { findDrainBlockers } from './drain-blockers.ts'
import { Evictions, type RemainingPod } from './evictions.ts'
import { buildUnmanagedFinding, ignoresCordon, listNodePods, type Pod, sortPods } from './pod.ts'

/**
 * Default timeout of a drain. It is long, because a drain may wait for pods that start elsewhere, or for an
 * operator who changes a disruption budget.
 */
export const drainTimeoutMs = 600_000

export interface DrainOptions {
  /** Milliseconds until the drain gives up. */
  readonly deadline: number
  /** True to evict pods without a controller too. */
  readonly force: boolean
  /**
   * True if the host and its pods are lost permanently. Then only the pod objects are deleted and no budget
   * is checked. Must not be set for a host that is only unreachable: its pods may still run, so singleton
   * workloads would run twice.
   */
  readonly lost?: boolean
  /** The operator and the reason for the cordon, stored as an annotation of the node. */
  readonly cordonReason?: string
  /** Called with the pods that block the drain, and why. */
  readonly waiting: (reason: string) => void
  readonly now: () => Date
  readonly signal: AbortSignal
  /** How to wait between two polls. Default: real timers. */
  readonly pause?: Pause
}

const pollIntervalMs = 500

const maxReported = 3
/** Timeout of one API request, in milliseconds. */
const timeout = 10_000

/** Cordons a node and evicts all pods that can be moved. The node stays cordoned, even if the drain fails. */
export async function drain(api: KubeClient, node: string, options: DrainOptions): Promise<void> {
  const { deadline, lost = false, waiting, now, signal, pause } = options
  const end = now().getTime() + deadline
  await listPodsToEvict(api, node, options)
  if (!lost || (await objectExists(api, nodeKind, { name: node }, { signal }))) {
    await cordon(api, node, options.cordonReason ?? rolloutCordonReason, { signal })
  }
  const evictions = new Evictions(api, { lost, now, signal })
  let first: ReadonlySet<string> | undefined
  let remainingPods: readonly RemainingPod[] = []
  const evictDue = async (): Promise<string | undefined> => {
    const all = await listPodsToEvict(api, node, options)
    first ??= new Set(all.map(readUid))
    // Some pods tolerate a cordon and may come back. They are evicted only once, because otherwise the drain
    // would never end.
    const podsToEvict = all.filter((pod) => first?.has(readUid(pod)) === true || !ignoresCordon(pod))
    remainingPods = await evictions.requestDue(podsToEvict)
    return remainingPods.length === 0
      ? undefined
      : remainingPods
          .map((remainingPod) => `${readUid(remainingPod.pod)} ${remainingPod.refusal?.message}`)
          .join()
  }
  const explain = async () => findDrainBlockers(api, node, remainingPods, { now, signal, timeout })
  await pollWithProgress(async () => evictDue().catch(describeTemporaryError), {
    async report(reason) {
      const { texts } = await explain()
      const more = texts.length - maxReported
      const named = texts.length === 0 ? reason : texts.slice(0, maxReported).join('; ')
      waiting(`${node} to be drained: ${named}${more > 0 ? `; and ${more} more` : ''}`)
    },
    async toTimeoutError(reason) {
      const { texts, hint } = await explain()
      const lines = texts.length === 0 ? [reason] : texts
      return new HyperkubeError(
        'DRAIN_BLOCKED',
        `${node} is not drained after ${formatDuration(deadline)}:${lines.map((line) => `\n  ${line}`).join('')}`,
        { hint: `${hint}; ${node} stays cordoned until you run: hyperkube node uncordon ${node}` },
      )
    },
    now,
    deadline: end,
    intervalMs: pollIntervalMs,
    ...(pause === undefined ? {} : { pause }),
    signal,
  })
}

/** Lists the pods to evict. Throws if one of them has no controller, unless `force` or `lost` is set. */
async function listPodsToEvict(
  api: KubeClient,
  node: string,
  { force, lost = false, signal }: DrainOptions,
): Promise<readonly Pod[]> {
  const { moving, unmanaged } = sortPods(await listNodePods(api, node, { signal, timeout }))
  const finding = force || lost ? undefined : buildUnmanagedFinding(node, unmanaged)
  if (finding === undefined) return [...moving, ...unmanaged]
  const { code, message, hint = '' } = finding
  throw new HyperkubeError(code, message, { hint })
}

/**
 * Describes an error after which the drain waits and retries; throws any other error. The API may be
 * unreachable for a moment, because control planes are restarted one by one.
 */
function describeTemporaryError(error: unknown): string {
  if (
    isKubeError(error, 'KUBE_UNREACHABLE') ||
    isKubeError(error, 'KUBE_SERVER') ||
    isKubeError(error, 'KUBE_TOO_MANY')
  ) {
    return error.message
  }
  throw error
}

function readUid({ metadata: { uid } }: Pod): string {
  return uid
}
