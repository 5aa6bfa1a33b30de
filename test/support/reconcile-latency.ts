import { z } from 'zod'
import { pollUntil } from '../../src/kit/poll.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { type Kind, createUntypedKind, type KubeObject, kubeObject } from '../../src/kube/object.ts'
import type { DefinedValue } from '../../src/kube/object-store.ts'
import { Watch, type WatchOptions } from '../../src/kube/watch.ts'
import { createObject } from '../../src/kube/write-objects.ts'
import { witnessLabel, witnessNames } from './simulated-nodes.ts'
import type { SimulatedAgents } from './simulated-agents.ts'

const nodeSchema = kubeObject.extend({
  status: z.looseObject({
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
  }),
})

/** Measures the milliseconds from an agent's status change to the changed condition of its node. */
export async function measureOwnLatencies(
  client: KubeClient,
  agents: SimulatedAgents,
  count: number,
  signal: AbortSignal,
): Promise<number[]> {
  await using nodes = await WatchObserver.open(
    client,
    { apiVersion: 'v1', kind: 'Node', schema: nodeSchema },
    {
      labels: Object.entries(witnessLabel).flat().join('='),
      select: ({ status }) =>
        status.conditions?.find(({ type }) => type === 'HyperkubeHealthy')?.status ?? 'Unknown',
    },
    signal,
  )
  const times: number[] = []
  for (let turn = 0; turn < count; turn++) {
    const name = witnessNames[turn % witnessNames.length] ?? ''
    const healthy = nodes.getCurrent(name) !== 'True'
    const began = performance.now()
    const observed = nodes.waitFor(name, (state) => state === (healthy ? 'True' : 'False'), signal)
    await agents.setHealthy(name, healthy, signal)
    times.push((await observed) - began)
  }
  for (const name of witnessNames) await agents.setHealthy(name, true, signal)
  return times
}

/** Measures the milliseconds from the creation of a namespace to its service account. */
export async function measureUpstreamLatencies(
  client: KubeClient,
  prefix: string,
  count: number,
  signal: AbortSignal,
): Promise<number[]> {
  await using accounts = await WatchObserver.open(
    client,
    createUntypedKind('v1', 'ServiceAccount'),
    {
      fields: 'metadata.name=default',
      select: ({ metadata }) => metadata.name,
    },
    signal,
  )
  const times: number[] = []
  for (let turn = 0; turn < count; turn++) {
    const name = `${prefix}-${turn}`
    const began = performance.now()
    const observed = accounts.waitFor(`${name}/default`, () => true, signal)
    await createObject(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { signal })
    times.push((await observed) - began)
  }
  return times
}

interface Waiting<T> {
  readonly matches: (object: T) => boolean
  readonly onMatch: (at: number) => void
}

/** Observes objects through a watch and returns the times at which they change. */
class WatchObserver<K extends KubeObject, T extends DefinedValue> implements AsyncDisposable {
  readonly #watch: Watch<K, T>
  readonly #stop = new AbortController()
  readonly #waiting = new Map<string, Waiting<T>>()
  readonly #observing: Promise<void>
  #listed = false

  private constructor(client: KubeClient, kind: Kind<K>, options: WatchOptions<K, T>) {
    this.#watch = new Watch(client, kind, options)
    this.#observing = this.#observe()
  }

  static async open<K extends KubeObject, T extends DefinedValue>(
    client: KubeClient,
    kind: Kind<K>,
    options: WatchOptions<K, T>,
    signal: AbortSignal,
  ): Promise<WatchObserver<K, T>> {
    const observer = new WatchObserver(client, kind, options)
    await pollUntil('all to be known', async () => observer.#listed, { timeoutMs: 60_000, signal })
    return observer
  }

  getCurrent(key: string): T | undefined {
    return this.#watch.current.get(key)
  }

  /** Waits until the object with this key matches. Returns the time of the match. */
  async waitFor(key: string, matches: (object: T) => boolean, signal: AbortSignal): Promise<number> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(60_000)])
    return new Promise((resolve, reject) => {
      this.#waiting.set(key, { matches, onMatch: resolve })
      deadline.addEventListener('abort', () => reject(new Error(`nothing was seen of ${key}`)), {
        once: true,
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#observing
  }

  async #observe(): Promise<void> {
    for await (const change of this.#watch.changes(this.#stop.signal)) {
      const at = performance.now()
      if (change.type === 'listed') this.#listed = true
      if (change.type !== 'added' && change.type !== 'modified') continue
      const waiting = this.#waiting.get(change.key)
      if (waiting?.matches(change.object) !== true) continue
      this.#waiting.delete(change.key)
      waiting.onMatch(at)
    }
  }
}
