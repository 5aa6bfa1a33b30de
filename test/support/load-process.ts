import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { z } from 'zod'
import type { Host } from '../../lab/hosts/host.ts'
import { ApiLoad, type Load, type LoadFigures, loadFigures } from './api-load.ts'
import { type LoadTarget, loadTarget } from './api-transports.ts'
import { orderOf, spawnInNetwork } from './network-process.ts'

/** What the process is told, in the first line of its input. It stops when its input ends. */
const order = z.strictObject({ target: loadTarget, perSecond: z.number() })
/** What it says, a line each: how many answers there are by now, and in the end all figures. */
const word = z.union([z.strictObject({ requests: z.int() }), z.strictObject({ figures: loadFigures })])
type Word = z.infer<typeof word>

/** The same load from a process of its own, in a host's network: 127.0.0.1 is that host's own there. */
export class LoadProcess implements Load {
  requests = 0
  readonly #input: Writable
  readonly #figures = Promise.withResolvers<LoadFigures>()

  constructor(host: Host, target: LoadTarget, perSecond: number) {
    const child = spawnInNetwork(host, import.meta.filename)
    this.#input = child.stdin
    child.stdin.on('error', () => undefined)
    child.stdin.write(`${JSON.stringify({ target, perSecond })}\n`)
    createInterface({ input: child.stdout }).on('line', (line) => this.#heard(word.parse(JSON.parse(line))))
    child.on('close', (code) => this.#figures.reject(new Error(`the load ended with ${code}`)))
    // Whoever stops it hears of that.
    this.#figures.promise.catch(() => undefined)
  }

  async stop(): Promise<LoadFigures> {
    this.#input.end()
    return this.#figures.promise
  }

  #heard(said: Word): void {
    if ('figures' in said) this.#figures.resolve(said.figures)
    else this.requests = said.requests
  }
}

/** The process itself. */
async function main(): Promise<void> {
  const { order: told, ended } = await orderOf(order)
  const { target, perSecond } = told
  const say = (said: Word): void => void process.stdout.write(`${JSON.stringify(said)}\n`)
  const load = new ApiLoad(target, perSecond)
  load.start()
  const timer = setInterval(() => say({ requests: load.requests }), 200)
  await ended
  clearInterval(timer)
  say({ figures: await load.stop() })
}

if (import.meta.main) await main()
