import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { pollUntil } from '../../../src/kit/poll.ts'
import { FaultyProxy } from '../faulty-proxy.ts'
import type { LocalControlPlane } from '../local-control-plane.ts'
import type { WatchProgram } from './watch-programs.ts'
import { findWatchErrors, type MadeChange, type ReportedChange, type WatchErrors } from './watch-result.ts'

const memory = z.object({
  type: z.literal('memory'),
  rss: z.number(),
  heapUsed: z.number(),
  sockets: z.number(),
})
type Memory = z.infer<typeof memory>
const line = z.discriminatedUnion('type', [
  memory,
  z.object({ type: z.literal('imported'), ms: z.number() }),
  z.object({
    type: z.enum(['added', 'modified', 'deleted']),
    name: z.string(),
    uid: z.string(),
    version: z.number(),
  }),
])
const object = z.looseObject({ metadata: z.looseObject({ uid: z.string(), resourceVersion: z.string() }) })
/** Number of names of objects. */
const objectCount = 20
const collection = '/api/v1/namespaces/default/configmaps'

/** How a program is tested. Several tests may run at once, each with its own objects. */
export interface WatchTestOptions {
  /** Name of the test, which is part of the names of its objects. */
  readonly name: string
  readonly kind: 'reset' | 'half-open'
  /** Number of cuts. The test ends earlier after the time limit. */
  readonly cuts: number
  readonly timeLimitMs: number
  /** How long the test waits for the program to know all changes. */
  readonly syncTimeoutMs: number
}

export interface WatchFigures extends WatchErrors {
  readonly cuts: number
  readonly changes: number
  readonly connections: number
  /** Milliseconds until the program knew all changes after its connection was cut, in the worst case. */
  readonly longestWaitMs: number
  readonly before: Memory
  readonly after: Memory
}

/** Runs a program that watches through a proxy, while objects change and the proxy cuts its connections. */
export class WatchComparison implements AsyncDisposable {
  readonly #options: WatchTestOptions
  readonly #controlPlane: LocalControlPlane
  readonly #random: () => number
  readonly #proxy: FaultyProxy
  readonly #stack: AsyncDisposableStack
  readonly #write: () => void
  readonly #memories: Memory[] = []
  readonly #made: MadeChange[] = []
  readonly #reported: ReportedChange[] = []
  readonly #api = new Map<string, MadeChange>()
  readonly #known = new Map<string, ReportedChange>()
  #importMs = 0
  #longestWaitMs = 0

  private constructor(
    options: WatchTestOptions,
    controlPlane: LocalControlPlane,
    random: () => number,
    proxy: FaultyProxy,
    stack: AsyncDisposableStack,
    child: ReturnType<typeof spawnProgram>,
  ) {
    this.#options = options
    this.#controlPlane = controlPlane
    this.#random = random
    this.#proxy = proxy
    this.#stack = stack
    this.#write = () => child.stdin.write('memory\n')
    createInterface({ input: child.stdout }).on('line', (text) => this.#read(line.parse(JSON.parse(text))))
  }

  /** Starts a program in the directory in which its package is installed. */
  static async open(
    program: WatchProgram,
    options: WatchTestOptions,
    directory: string,
    controlPlane: LocalControlPlane,
    random: () => number,
  ): Promise<WatchComparison> {
    const stack = new AsyncDisposableStack()
    const { port, ca, token } = await controlPlane.readAccess()
    const proxy = stack.use(await FaultyProxy.open('127.0.0.1', port))
    const { name } = options
    const [script, kubeconfig] = [join(directory, `${name}.mjs`), join(directory, `${name}.json`)]
    await writeFile(script, program.script)
    await writeFile(kubeconfig, renderKubeconfig(proxy.port, ca, token), { mode: 0o600 })
    const child = spawnProgram([script, kubeconfig, `watch-test=${name}`])
    stack.defer(async () => {
      const ended = once(child, 'close')
      child.kill('SIGKILL')
      await ended
    })
    return new WatchComparison(options, controlPlane, random, proxy, stack, child)
  }

  get importMs(): number {
    return this.#importMs
  }

  /** Cuts all connections many times while objects change. In half of the cases waits until all is known. */
  async cut(): Promise<WatchFigures> {
    const { kind, cuts, timeLimitMs, syncTimeoutMs } = this.#options
    await this.#change(30)
    await this.#waitUntilKnown(60_000)
    const before = await this.#measure()
    const end = performance.now() + timeLimitMs
    let turn = 0
    for (; turn < cuts && performance.now() < end; turn++) {
      await pollUntil('a connection', async () => this.#proxy.openCount > 0, {
        timeoutMs: 60_000,
        intervalMs: 2,
      })
      const changing = this.#change(1 + Math.floor(this.#random() * 5))
      this.#proxy.breakConnections(kind, 0)
      await changing
      if (kind === 'half-open' || this.#random() < 0.5) await this.#waitUntilKnown(syncTimeoutMs)
    }
    await this.#waitUntilKnown(syncTimeoutMs)
    return {
      ...findWatchErrors(this.#made, this.#reported),
      cuts: turn,
      changes: this.#made.length,
      connections: this.#proxy.accepted,
      longestWaitMs: Math.round(this.#longestWaitMs),
      before,
      after: await this.#measure(),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }

  #read(parsed: z.infer<typeof line>): void {
    if (parsed.type === 'imported') this.#importMs = parsed.ms
    else if (parsed.type === 'memory') this.#memories.push(parsed)
    else {
      this.#reported.push({ ...parsed, type: parsed.type })
      if (parsed.type === 'deleted') this.#known.delete(parsed.name)
      else this.#known.set(parsed.name, { ...parsed, type: parsed.type })
    }
  }

  async #change(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      const name = `${this.#options.name}-${Math.floor(this.#random() * objectCount)}`
      if (this.#random() < 0.3) await this.#remove(name)
      else await this.#put(name)
    }
  }

  async #put(name: string): Promise<void> {
    const isKnown = this.#api.has(name)
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { 'watch-test': this.#options.name } },
      data: { turn: String(this.#made.length) },
    }
    const [method, path] = isKnown ? ['PUT', `${collection}/${name}`] : ['POST', collection]
    const { metadata } = object.parse((await this.#controlPlane.send(method ?? '', path ?? '', body)).body)
    const made = { type: 'put', name, uid: metadata.uid, version: Number(metadata.resourceVersion) } as const
    this.#made.push(made)
    this.#api.set(name, made)
  }

  async #remove(name: string): Promise<void> {
    const known = this.#api.get(name)
    if (known === undefined) return
    await this.#controlPlane.send('DELETE', `${collection}/${name}`)
    this.#api.delete(name)
    this.#made.push({ ...known, type: 'remove' })
  }

  /** Waits until the program knows exactly the objects of the API. Gives up after the timeout. */
  async #waitUntilKnown(timeoutMs: number): Promise<void> {
    const began = performance.now()
    const isKnown = async () =>
      this.#known.size === this.#api.size &&
      [...this.#api].every(([name, { uid, version }]) => {
        const known = this.#known.get(name)
        return known?.uid === uid && known.version === version
      })
    await pollUntil('all changes', isKnown, { timeoutMs, intervalMs: 5 }).catch(() => undefined)
    this.#longestWaitMs = Math.max(this.#longestWaitMs, performance.now() - began)
  }

  async #measure(): Promise<Memory> {
    const count = this.#memories.length
    this.#write()
    await pollUntil('the memory', async () => this.#memories.length > count, { timeoutMs: 60_000 })
    const measured = this.#memories.at(-1)
    if (measured === undefined) throw new Error('the program did not report its memory')
    return measured
  }
}

function spawnProgram(args: readonly string[]) {
  return spawn(process.execPath, ['--expose-gc', ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
}

function renderKubeconfig(port: number, ca: string, token: string): string {
  const server = `https://127.0.0.1:${port}`
  const data = Buffer.from(ca).toString('base64')
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server, 'certificate-authority-data': data } }],
    users: [{ name: 'a', user: { token } }],
  })
}
