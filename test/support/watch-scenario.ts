import type { Credentials } from '../../lab/cluster/kube-api.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/kube-error.ts'
import { createUntypedKind, type KubeObject } from '../../src/kube/object.ts'
import {
  type ApiChange,
  matchesApi,
  type RecordedObject,
  toRecordedObject,
  WatchRecorder,
} from '../../src/kube/testing/watch-recorder.ts'
import { formatObjectKey } from '../../src/kube/object-store.ts'
import { Watch } from '../../src/kube/watch.ts'
import { applyObject, deleteKubeObject } from '../../src/kube/write-objects.ts'
import { type ConnectionFault, FaultyProxy, connectionFaults } from './faulty-proxy.ts'

export interface WatchScenarioOptions {
  /** Address of the API server. */
  readonly address: string
  readonly credentials: Credentials
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  /** A connection without data for this time in milliseconds counts as dead. */
  readonly silenceMs: number
}

const configMaps = createUntypedKind('v1', 'ConfigMap')
const [namespace, label] = ['default', 'watch-course']
const names = Array.from({ length: 20 }, (_, index) => `watched-${index}`)

/** Changes objects directly and watches them through a proxy that breaks its connections. */
export class WatchScenario implements AsyncDisposable {
  readonly #over = new AbortController()
  readonly #options: WatchScenarioOptions
  readonly #proxy: FaultyProxy
  readonly #direct: KubeClient
  readonly #watching: KubeClient
  readonly #watch: Watch<KubeObject, RecordedObject>
  readonly #recorder = new WatchRecorder()
  readonly #changes: ApiChange[] = []
  /** Current objects in the API, by key. */
  readonly #apiObjects = new Map<string, RecordedObject>()
  readonly #problems = new Map<string, number>()
  readonly #listening: Promise<void>
  #longestWaitMs = 0

  private constructor(options: WatchScenarioOptions, proxy: FaultyProxy) {
    this.#options = options
    this.#proxy = proxy
    const { silenceMs, random } = options
    const timeouts = { connectMs: 2000, responseMs: 2000 }
    this.#direct = createClient(options, { signal: this.#over.signal })
    this.#watching = createClient(options, { signal: this.#over.signal, dial: proxy.dial, timing: timeouts })
    this.#watch = new Watch(this.#watching, configMaps, {
      namespace,
      labels: label,
      // A list needs several pages, so a fault can interrupt it between pages.
      limit: 5,
      select: toRecordedObject,
      onError: (error) => this.#count(error),
      timing: { idleTimeout: silenceMs, backoff: { initial: 20, max: 500 } },
      random,
    })
    this.#listening = this.#listen()
  }

  static async open(options: WatchScenarioOptions): Promise<WatchScenario> {
    return new WatchScenario(options, await FaultyProxy.open(options.address, 6443))
  }

  /**
   * Breaks connections once while objects change. In half of the cases it then waits until the watch is in
   * sync.
   */
  async breakConnections(): Promise<void> {
    const { random, silenceMs } = this.#options
    await pollUntil('a connection', async () => this.#proxy.openCount > 0, {
      timeoutMs: 60_000,
      intervalMs: 5,
    })
    const changes = this.changeObjects(1 + Math.floor(random() * 5))
    this.#proxy.breakConnections(
      pickRandom<ConnectionFault>(connectionFaults, random),
      random() * 2 * silenceMs,
    )
    await changes
    if (random() < 0.5) await this.waitUntilSynced()
  }

  /** Makes this many changes. Each one creates, changes or deletes a random object. */
  async changeObjects(count: number): Promise<void> {
    const { random } = this.#options
    for (let turn = 0; turn < count; turn++) {
      const objectName = { namespace, name: pickRandom(names, random) }
      if (random() < 0.3) await this.#remove(objectName)
      else await this.#apply(objectName)
    }
  }

  /** Waits until the watch has the same objects as the API. */
  async waitUntilSynced(): Promise<void> {
    const started = performance.now()
    await pollUntil('the watch to know all', async () => matchesApi(this.#watch.current, this.#apiObjects), {
      timeoutMs: 120_000,
      intervalMs: 10,
    })
    this.#longestWaitMs = Math.max(this.#longestWaitMs, performance.now() - started)
  }

  /** Lists wrong and missing events. */
  findProblems(): string[] {
    return this.#recorder.findErrors(this.#changes)
  }

  figures(): object {
    return {
      changes: this.#changes.length,
      events: this.#recorder.length,
      connections: this.#proxy.accepted,
      longestWait: Math.round(this.#longestWaitMs),
      problems: Object.fromEntries(this.#problems),
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
    for await (const change of this.#watch.changes(this.#over.signal)) this.#recorder.add(change)
  }

  async #apply(objectName: { namespace: string; name: string }): Promise<void> {
    const { apiVersion, kind } = configMaps
    const data = { turn: String(this.#changes.length) }
    const object = { apiVersion, kind, metadata: { ...objectName, labels: { [label]: 'yes' } }, data }
    // The timeout is long enough for a restart of the API server.
    const recorded = toRecordedObject(await applyObject(this.#direct, object, { timeout: 100_000 }))
    const key = formatObjectKey(objectName)
    this.#apiObjects.set(key, recorded)
    this.#changes.push({ type: 'put', key, ...recorded })
  }

  async #remove(objectName: { namespace: string; name: string }): Promise<void> {
    const key = formatObjectKey(objectName)
    const recorded = this.#apiObjects.get(key)
    if (recorded === undefined) return
    await deleteKubeObject(this.#direct, configMaps, objectName, { timeout: 100_000 })
    this.#apiObjects.delete(key)
    this.#changes.push({ type: 'remove', key, ...recorded })
  }

  #count(error: unknown): void {
    const name = error instanceof KubeError ? error.code : String(error)
    this.#problems.set(name, (this.#problems.get(name) ?? 0) + 1)
  }
}

type ClientOptions = Pick<ConstructorParameters<typeof KubeClient>[0], 'signal' | 'dial' | 'timing'>

function createClient({ address, credentials }: WatchScenarioOptions, options: ClientOptions): KubeClient {
  const { ca, certificate, key: privateKey } = credentials
  const servers = [`https://${address}:6443`]
  return new KubeClient({ servers, ca, credentials: { certificate, privateKey }, ...options })
}

function pickRandom<T>(values: readonly T[], random: () => number): T {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('there is nothing to choose from')
  return value
}
