import { mapAtMost } from '../../catalog/map-with-concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/kube-error.ts'
import { type Backoff, pauseAfter } from '../../kube/retry-policy.ts'
import { evict, remove } from '../../kube/write-objects.ts'
import { isEnding, type Pod, podKind } from './pod.ts'

/** A pod that is still there. */
export interface Hold {
  readonly pod: Pod
  /** Since when it shall end, in milliseconds. */
  readonly since: number
  /** Why it may not yet; undefined when it is ending. */
  readonly refusal: Refusal | undefined
}

export interface Refusal {
  /** Whether it is a disruption budget that says no. */
  readonly byBudget: boolean
  /** In the API's own words. */
  readonly said: string
}

export interface EvictionOptions {
  /** Nobody is left on the host who could end them: what the API knows of them is all there is. */
  readonly lost: boolean
  readonly now: () => Date
  readonly signal: AbortSignal
}

interface Asked {
  readonly since: number
  readonly times: number
  /** When to ask again. */
  readonly next: number
  readonly refusal: Refusal | undefined
}

/** So many at once: the API has others to serve. */
const sideBySide = 5
/** Between two questions about the same pod. */
const pauses: Backoff = { first: 500, most: 5000 }
/** For one answer. */
const timeout = 10_000

/** Has pods end, each asked for again while the answer is no, with longer and longer pauses. */
export class Evictions {
  readonly #api: KubeClient
  readonly #options: EvictionOptions
  /** By uid: a pod of the same name may be another one. */
  readonly #asked = new Map<string, Asked>()

  constructor(api: KubeClient, options: EvictionOptions) {
    this.#api = api
    this.#options = options
  }

  /** Asks for those for which it is time, and answers how it is with each. */
  async ask(pods: readonly Pod[]): Promise<Hold[]> {
    const { lost, now } = this.#options
    const due = pods.filter((pod) => (lost || !isEnding(pod)) && this.#of(pod).next <= now().getTime())
    await mapAtMost(sideBySide, due, async (pod) => this.#askFor(pod))
    return pods.map((pod) => {
      const { since, refusal } = this.#of(pod)
      return { pod, since, refusal: isEnding(pod) && !lost ? undefined : refusal }
    })
  }

  #of({ metadata: { uid } }: Pod): Asked {
    const asked = this.#asked.get(uid)
    if (asked !== undefined) return asked
    const first = { since: this.#options.now().getTime(), times: 0, next: 0, refusal: undefined }
    this.#asked.set(uid, first)
    return first
  }

  async #askFor(pod: Pod): Promise<void> {
    const { since, times } = this.#of(pod)
    const refusal = await this.#refusalOf(pod)
    const next = this.#options.now().getTime() + pauseAfter(times, pauses, 1)
    this.#asked.set(pod.metadata.uid, { since, times: times + 1, next, refusal })
  }

  /** Whatever the API says against it, it may say otherwise later: a budget, a webhook, a server that is away. */
  async #refusalOf({ metadata: { namespace, name, uid } }: Pod): Promise<Refusal | undefined> {
    const { lost, signal } = this.#options
    const options = { uid, signal, timeout }
    try {
      if (lost) await remove(this.#api, podKind, { namespace, name }, { ...options, grace: 0 })
      else await evict(this.#api, { namespace, name }, options)
      return undefined
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      return refusalIn(error)
    }
  }
}

/** What a budget says is in the causes; the message alone names none. */
function refusalIn({ causes, said, message }: KubeError): Refusal {
  const budget = causes.find(({ reason }) => reason === 'DisruptionBudget')
  return { byBudget: budget !== undefined, said: budget?.message ?? (said === '' ? message : said) }
}
