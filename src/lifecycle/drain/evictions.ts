import { mapWithConcurrency } from '../../kit/concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/kube-error.ts'
import { type Backoff, backoffDelay } from '../../kube/retry-policy.ts'
import { deleteKubeObject, evictPod } from '../../kube/write-objects.ts'
import { isTerminating, type Pod, podKind } from './pod.ts'

/** A pod that is still on the node. */
export interface RemainingPod {
  readonly pod: Pod
  /** Time of the first eviction request, in milliseconds. */
  readonly since: number
  /** Why the API refused the eviction; undefined if the pod is terminating. */
  readonly refusal: EvictionRefusal | undefined
}

export interface EvictionRefusal {
  /** True if a disruption budget refused the eviction. */
  readonly byBudget: boolean
  /** Explanation from the API. */
  readonly message: string
}

export interface EvictionOptions {
  /**
   * True if the host is lost. It cannot terminate pods, so the pod objects are deleted without a grace
   * period.
   */
  readonly lost: boolean
  readonly now: () => Date
  readonly signal: AbortSignal
}

interface EvictionAttempt {
  readonly since: number
  readonly times: number
  /** Earliest time of the next request, in milliseconds. */
  readonly next: number
  readonly refusal: EvictionRefusal | undefined
}

/** Maximum number of concurrent requests, to limit the load on the API. */
const maxConcurrent = 5
/** Milliseconds between two requests for the same pod. */
const backoff: Backoff = { initial: 500, max: 5000 }
/** Timeout of one request, in milliseconds. */
const timeout = 10_000

/** Requests the eviction of pods, and repeats refused requests with growing backoff. */
export class Evictions {
  readonly #api: KubeClient
  readonly #options: EvictionOptions
  /** Attempts by pod uid, because another pod may get the same name. */
  readonly #attempts = new Map<string, EvictionAttempt>()

  constructor(api: KubeClient, options: EvictionOptions) {
    this.#api = api
    this.#options = options
  }

  /** Requests all evictions that are due. Returns the state of each pod. */
  async requestDue(pods: readonly Pod[]): Promise<RemainingPod[]> {
    const { lost, now } = this.#options
    const due = pods.filter(
      (pod) => (lost || !isTerminating(pod)) && this.#attemptFor(pod).next <= now().getTime(),
    )
    await mapWithConcurrency(maxConcurrent, due, async (pod) => this.#requestEviction(pod))
    return pods.map((pod) => {
      const { since, refusal } = this.#attemptFor(pod)
      return { pod, since, refusal: isTerminating(pod) && !lost ? undefined : refusal }
    })
  }

  #attemptFor({ metadata: { uid } }: Pod): EvictionAttempt {
    const attempt = this.#attempts.get(uid)
    if (attempt !== undefined) return attempt
    const first = { since: this.#options.now().getTime(), times: 0, next: 0, refusal: undefined }
    this.#attempts.set(uid, first)
    return first
  }

  async #requestEviction(pod: Pod): Promise<void> {
    const { since, times } = this.#attemptFor(pod)
    const refusal = await this.#tryEvict(pod)
    const next = this.#options.now().getTime() + backoffDelay(times, backoff, 1)
    this.#attempts.set(pod.metadata.uid, { since, times: times + 1, next, refusal })
  }

  /**
   * Requests one eviction. Treats every API error as temporary, because a budget, a webhook or an unreachable
   * server may recover.
   */
  async #tryEvict({ metadata: { namespace, name, uid } }: Pod): Promise<EvictionRefusal | undefined> {
    const { lost, signal } = this.#options
    const options = { uid, signal, timeout }
    try {
      if (lost)
        await deleteKubeObject(this.#api, podKind, { namespace, name }, { ...options, graceSeconds: 0 })
      else await evictPod(this.#api, { namespace, name }, options)
      return undefined
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      return toRefusal(error)
    }
  }
}

/**
 * Converts an API error to a refusal. The main message does not name the budget, so the message of the cause
 * is preferred.
 */
function toRefusal({ causes, apiMessage, message }: KubeError): EvictionRefusal {
  const budget = causes.find(({ reason }) => reason === 'DisruptionBudget')
  return {
    byBudget: budget !== undefined,
    message: budget?.message ?? (apiMessage === '' ? message : apiMessage),
  }
}
