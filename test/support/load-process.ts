import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { z } from 'zod'
import { ApiLoad, type Load, type LoadFigures, loadFigures } from './api-load.ts'
import { type LoadTarget, loadTarget } from './api-transports.ts'
import { openTarget } from './endpoint-relay.ts'
import { type ClientNetwork, readOptions, spawnInNetwork } from './network-process.ts'

/**
 * Options, which the process reads from the first line of its input. The process stops when its input ends.
 */
const optionsSchema = z.strictObject({ target: loadTarget, perSecond: z.number() })
/** Output lines of the process: the number of responses so far, and all figures at the end. */
const outputSchema = z.union([
  z.strictObject({ requests: z.int() }),
  z.strictObject({ figures: loadFigures }),
])
type LoadOutput = z.infer<typeof outputSchema>

/** Runs ApiLoad in a child process in the network namespace of a host, where 127.0.0.1 is that host. */
export class LoadProcess implements Load {
  requests = 0
  readonly #input: Writable
  readonly #figures = Promise.withResolvers<LoadFigures>()

  constructor(network: ClientNetwork, target: LoadTarget, perSecond: number) {
    const child = spawnInNetwork(network, import.meta.filename)
    this.#input = child.stdin
    child.stdin.on('error', () => undefined)
    child.stdin.write(`${JSON.stringify({ target, perSecond })}\n`)
    createInterface({ input: child.stdout }).on('line', (line) =>
      this.#onOutput(outputSchema.parse(JSON.parse(line))),
    )
    child.on('close', (code) => this.#figures.reject(new Error(`the load ended with ${code}`)))
    // Prevents an unhandled rejection. `stop` awaits the same promise and gets its error.
    this.#figures.promise.catch(() => undefined)
  }

  async stop(): Promise<LoadFigures> {
    this.#input.end()
    return this.#figures.promise
  }

  #onOutput(output: LoadOutput): void {
    if ('figures' in output) this.#figures.resolve(output.figures)
    else this.requests = output.requests
  }
}

/** Entry point of the child process. */
async function main(): Promise<void> {
  const { options, ended } = await readOptions(optionsSchema)
  const { perSecond } = options
  using opened = await openTarget(options.target)
  const printLine = (output: LoadOutput): void => void process.stdout.write(`${JSON.stringify(output)}\n`)
  const load = new ApiLoad(opened.target, perSecond)
  load.start()
  const timer = setInterval(() => printLine({ requests: load.requests }), 200)
  await ended
  clearInterval(timer)
  printLine({ figures: await load.stop() })
}

if (import.meta.main) await main()
