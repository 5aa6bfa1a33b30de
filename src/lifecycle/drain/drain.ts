import { duration } from '../../kit/duration.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { waitWatchfully } from '../../kit/poll-with-progress.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { exists } from '../../kube/read-objects.ts'
import { nodeKind } from '../cluster-objects/node.ts'
import { cordon } from './cordon.ts'
import { Evictions, type Hold } from './evictions.ts'
import { obstacles } from './drain-blockers.ts'
import { type Pod, podsOn } from './pod.ts'
import { ignoresCordon, sortPods } from './sort-pods.ts'
import { unmanagedFinding } from './unmanaged-pods.ts'

export interface DrainOptions {
  /** Milliseconds. */
  readonly deadline: number
  /** Also pods that nobody makes anew. */
  readonly force: boolean
  /**
   * The host is lost for good, and its pods with it: only what the API knows of them is removed, and no budget is asked.
   * Where a host only does not answer, programs of which there may be one would then run twice.
   */
  readonly lost?: boolean
  /** For whoever finds the node cordoned: who has done that, and what for. */
  readonly why?: string
  /** Is told what is waited for, and why it takes so long. */
  readonly waiting: (reason: string) => void
  readonly now: () => Date
  readonly signal: AbortSignal
  /** Milliseconds between two looks. */
  readonly every?: number
}

const mostTold = 3
/** For one answer of the API. */
const timeout = 10_000

/** Moves all pods away from a node that can be moved, and keeps new ones off it. Whatever comes of it, the node stays cordoned. */
export async function drain(api: KubeClient, node: string, options: DrainOptions): Promise<void> {
  const { deadline, lost = false, waiting, now, signal, every = 500 } = options
  const end = now().getTime() + deadline
  await podsToGo(api, node, options)
  if (!lost || (await exists(api, nodeKind, { name: node }, { signal }))) {
    await cordon(api, node, options.why ?? 'hyperkube moves its pods away', { signal })
  }
  const evictions = new Evictions(api, { lost, now, signal })
  let first: ReadonlySet<string> | undefined
  let holds: readonly Hold[] = []
  const look = async (): Promise<string | undefined> => {
    const all = await podsToGo(api, node, options)
    first ??= new Set(all.map(uidOf))
    // Some pods heed no cordon. Were they moved again whenever they come back, it would never end.
    const going = all.filter((pod) => first?.has(uidOf(pod)) === true || !ignoresCordon(pod))
    holds = await evictions.ask(going)
    return holds.length === 0
      ? undefined
      : holds.map((hold) => `${uidOf(hold.pod)} ${hold.refusal?.said}`).join()
  }
  const seen = async () => obstacles(api, node, holds, { now, signal, timeout })
  await waitWatchfully(async () => look().catch(troubleIn), {
    async tell(reason) {
      const { texts } = await seen()
      const more = texts.length - mostTold
      const named = texts.length === 0 ? reason : texts.slice(0, mostTold).join('; ')
      waiting(`${node} to be empty: ${named}${more > 0 ? `; and ${more} more` : ''}`)
    },
    async late(reason) {
      const { texts, hint } = await seen()
      const lines = texts.length === 0 ? [reason] : texts
      return new HyperkubeError(
        'DRAIN_BLOCKED',
        `${node} is not empty after ${duration(deadline)}:${lines.map((line) => `\n  ${line}`).join('')}`,
        { hint: `${hint}; ${node} stays cordoned until hyperkube node uncordon ${node}` },
      )
    },
    now,
    deadline: end,
    every,
    signal,
  })
}

/** Fails where there are some that nobody makes anew, and nobody said that they may go. */
async function podsToGo(
  api: KubeClient,
  node: string,
  { force, lost = false, signal }: DrainOptions,
): Promise<readonly Pod[]> {
  const { moving, unmanaged } = sortPods(await podsOn(api, node, { signal, timeout }))
  const finding = force || lost ? undefined : unmanagedFinding(node, unmanaged)
  if (finding === undefined) return [...moving, ...unmanaged]
  const { code, message, hint = '' } = finding
  throw new HyperkubeError(code, message, { hint })
}

/** An API that is away for a moment is waited for, too: control planes are restarted one after the other. */
function troubleIn(error: unknown): string {
  if (
    isKubeError(error, 'KUBE_UNREACHABLE') ||
    isKubeError(error, 'KUBE_SERVER') ||
    isKubeError(error, 'KUBE_TOO_MANY')
  ) {
    return error.message
  }
  throw error
}

function uidOf({ metadata: { uid } }: Pod): string {
  return uid
}
