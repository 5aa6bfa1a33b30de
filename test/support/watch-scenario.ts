import type { Credentials } from '../../lab/cluster/kube-api.ts'
import { until } from '../../src/kit/poll-until.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/kube-error.ts'
import { kindOf, type KubeObject } from '../../src/kube/object.ts'
import { type Deed, isSame, type Seen, seenOf, Told } from '../../src/kube/testing/watch-recorder.ts'
import { keyOf } from '../../src/kube/object-store.ts'
import { Watch } from '../../src/kube/watch.ts'
import { apply, remove } from '../../src/kube/write-objects.ts'
import { type Cut, CutProxy, cuts } from './faulty-proxy.ts'

export interface CourseWish {
  /** Where the API server is. */
  readonly address: string
  readonly credentials: Credentials
  /** From 0 to 1. */
  readonly random: () => number
  /** After so many milliseconds without a word, a connection is taken for dead. */
  readonly silence: number
}

const configMaps = kindOf('v1', 'ConfigMap')
const [namespace, label] = ['default', 'watch-course']
const names = Array.from({ length: 20 }, (_, index) => `watched-${index}`)

/** Somebody changes objects, and somebody else watches them over a way that is cut again and again. */
export class WatchCourse implements AsyncDisposable {
  readonly #over = new AbortController()
  readonly #wish: CourseWish
  readonly #proxy: CutProxy
  readonly #direct: KubeClient
  readonly #watching: KubeClient
  readonly #watch: Watch<KubeObject, Seen>
  readonly #told = new Told()
  readonly #deeds: Deed[] = []
  /** What really is there. */
  readonly #there = new Map<string, Seen>()
  readonly #troubles = new Map<string, number>()
  readonly #listening: Promise<void>
  #longest = 0

  private constructor(wish: CourseWish, proxy: CutProxy) {
    this.#wish = wish
    this.#proxy = proxy
    const { silence, random } = wish
    const patience = { connect: 2000, answer: 2000 }
    this.#direct = clientOf(wish, { signal: this.#over.signal })
    this.#watching = clientOf(wish, { signal: this.#over.signal, dial: proxy.dial, timing: patience })
    this.#watch = new Watch(this.#watching, configMaps, {
      namespace,
      labels: label,
      // So few that a list has several pages, and can be cut between them.
      limit: 5,
      select: seenOf,
      onTrouble: (error) => this.#count(error),
      timing: { silence, backoff: { first: 20, most: 500 } },
      random,
    })
    this.#listening = this.#listen()
  }

  static async open(wish: CourseWish): Promise<WatchCourse> {
    return new WatchCourse(wish, await CutProxy.open(wish.address, 6443))
  }

  /** One cut while objects change. In half of the cases the watch is given the time to learn of all before the next one. */
  async cut(): Promise<void> {
    const { random, silence } = this.#wish
    await until('a connection', async () => this.#proxy.standing > 0, { within: 60_000, every: 5 })
    const acts = this.act(1 + Math.floor(random() * 5))
    this.#proxy.cut(oneOf<Cut>(cuts, random), random() * 2 * silence)
    await acts
    if (random() < 0.5) await this.settle()
  }

  /** Changes so many objects, or makes them, or removes them. */
  async act(count: number): Promise<void> {
    const { random } = this.#wish
    for (let turn = 0; turn < count; turn++) {
      const place = { namespace, name: oneOf(names, random) }
      if (random() < 0.3) await this.#remove(place)
      else await this.#put(place)
    }
  }

  /** Waits until the watch knows what is there. */
  async settle(): Promise<void> {
    const started = performance.now()
    await until('the watch to know all', async () => isSame(this.#watch.current, this.#there), {
      within: 120_000,
      every: 10,
    })
    this.#longest = Math.max(this.#longest, performance.now() - started)
  }

  /** What was told wrongly, or not at all. */
  wrong(): string[] {
    return this.#told.wrong(this.#deeds)
  }

  figures(): object {
    return {
      deeds: this.#deeds.length,
      told: this.#told.length,
      connections: this.#proxy.accepted,
      longestWait: Math.round(this.#longest),
      troubles: Object.fromEntries(this.#troubles),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#listening
    this.#direct.close()
    this.#watching.close()
    await this.#proxy[Symbol.asyncDispose]()
  }

  async #listen(): Promise<void> {
    for await (const change of this.#watch.changes(this.#over.signal)) this.#told.add(change)
  }

  async #put(place: { namespace: string; name: string }): Promise<void> {
    const { apiVersion, kind } = configMaps
    const data = { turn: String(this.#deeds.length) }
    const object = { apiVersion, kind, metadata: { ...place, labels: { [label]: 'yes' } }, data }
    // Over a restart of the server it has to be patient.
    const seen = seenOf(await apply(this.#direct, object, { timeout: 100_000 }))
    const key = keyOf(place)
    this.#there.set(key, seen)
    this.#deeds.push({ type: 'put', key, ...seen })
  }

  async #remove(place: { namespace: string; name: string }): Promise<void> {
    const key = keyOf(place)
    const seen = this.#there.get(key)
    if (seen === undefined) return
    await remove(this.#direct, configMaps, place, { timeout: 100_000 })
    this.#there.delete(key)
    this.#deeds.push({ type: 'remove', key, ...seen })
  }

  #count(error: unknown): void {
    const name = error instanceof KubeError ? error.code : String(error)
    this.#troubles.set(name, (this.#troubles.get(name) ?? 0) + 1)
  }
}

type ClientWish = Pick<ConstructorParameters<typeof KubeClient>[0], 'signal' | 'dial' | 'timing'>

function clientOf({ address, credentials }: CourseWish, wish: ClientWish): KubeClient {
  const { authority, certificate, key: privateKey } = credentials
  const servers = [`https://${address}:6443`]
  return new KubeClient({ servers, authority, credentials: { certificate, privateKey }, ...wish })
}

function oneOf<T>(values: readonly T[], random: () => number): T {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('there is nothing to choose from')
  return value
}
