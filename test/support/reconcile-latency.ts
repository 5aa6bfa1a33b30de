import { z } from 'zod'
import { until } from '../../src/kit/poll-until.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { type Kind, kindOf, type KubeObject, kubeObject } from '../../src/kube/object.ts'
import type { Some } from '../../src/kube/object-store.ts'
import { Watch, type WatchOptions } from '../../src/kube/watch.ts'
import { create } from '../../src/kube/write-objects.ts'
import { witnessLabel, witnessNames } from './simulated-nodes.ts'
import type { CrowdAgents } from './simulated-agents.ts'

const node = kubeObject.extend({
  status: z.looseObject({
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
  }),
})

/** In milliseconds: from a host's agent saying something else to the condition of its node saying so. */
export async function ownLatencies(
  client: KubeClient,
  agents: CrowdAgents,
  count: number,
  signal: AbortSignal,
): Promise<number[]> {
  await using nodes = await Onlooker.open(
    client,
    { apiVersion: 'v1', kind: 'Node', schema: node },
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
    const well = nodes.current(name) !== 'True'
    const began = performance.now()
    const seen = nodes.sees(name, (state) => state === (well ? 'True' : 'False'), signal)
    await agents.say(name, well, signal)
    times.push((await seen) - began)
  }
  for (const name of witnessNames) await agents.say(name, true, signal)
  return times
}

/** In milliseconds: from a namespace being made to its service account being there. */
export async function upstreamLatencies(
  client: KubeClient,
  prefix: string,
  count: number,
  signal: AbortSignal,
): Promise<number[]> {
  await using accounts = await Onlooker.open(
    client,
    kindOf('v1', 'ServiceAccount'),
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
    const seen = accounts.sees(`${name}/default`, () => true, signal)
    await create(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { signal })
    times.push((await seen) - began)
  }
  return times
}

interface Waiting<T> {
  readonly isIt: (object: T) => boolean
  readonly tell: (at: number) => void
}

/** Sees what becomes of objects through a watch, and when. */
class Onlooker<K extends KubeObject, T extends Some> implements AsyncDisposable {
  readonly #watch: Watch<K, T>
  readonly #over = new AbortController()
  readonly #waiting = new Map<string, Waiting<T>>()
  readonly #looking: Promise<void>
  #listed = false

  private constructor(client: KubeClient, kind: Kind<K>, options: WatchOptions<K, T>) {
    this.#watch = new Watch(client, kind, options)
    this.#looking = this.#look()
  }

  static async open<K extends KubeObject, T extends Some>(
    client: KubeClient,
    kind: Kind<K>,
    options: WatchOptions<K, T>,
    signal: AbortSignal,
  ): Promise<Onlooker<K, T>> {
    const one = new Onlooker(client, kind, options)
    await until('all to be known', async () => one.#listed, { within: 60_000, signal })
    return one
  }

  current(key: string): T | undefined {
    return this.#watch.current.get(key)
  }

  /** When it is first so, from now on. */
  async sees(key: string, isIt: (object: T) => boolean, signal: AbortSignal): Promise<number> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(60_000)])
    return new Promise((resolve, reject) => {
      this.#waiting.set(key, { isIt, tell: resolve })
      limit.addEventListener('abort', () => reject(new Error(`nothing was seen of ${key}`)), { once: true })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#looking
  }

  async #look(): Promise<void> {
    for await (const change of this.#watch.changes(this.#over.signal)) {
      const at = performance.now()
      if (change.type === 'listed') this.#listed = true
      if (change.type !== 'added' && change.type !== 'modified') continue
      const waiting = this.#waiting.get(change.key)
      if (waiting?.isIt(change.object) !== true) continue
      this.#waiting.delete(change.key)
      waiting.tell(at)
    }
  }
}
