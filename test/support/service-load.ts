import { Agent, request } from 'node:http'
import { z } from 'zod'
import { type ClientNetwork, runInNetwork, readOptions } from './network-process.ts'

const serviceTarget = z.strictObject({
  address: z.string(),
  port: z.int().default(80),
  /** Name of the host in requests, for example that of an Ingress. */
  name: z.string().optional(),
})
type ServiceTarget = z.output<typeof serviceTarget>

const optionsSchema = z.strictObject({ target: serviceTarget, perSecond: z.number() })

/**
 * Results of the load on a service. Failed requests are not retried, except on a kept connection that the
 * server had closed.
 */
export const serviceFigures = z.strictObject({
  requests: z.int(),
  failed: z.array(z.string()),
  /** Longest request in milliseconds. */
  worst: z.number(),
  /** Number of different pods that responded. */
  pods: z.int(),
})
export type ServiceFigures = z.infer<typeof serviceFigures>

const timeoutMs = 5000

/**
 * Sends requests to a service at a constant rate from the network of a host, half over new connections and
 * half over kept ones.
 */
export class ServiceLoad {
  readonly #process: ReturnType<typeof runInNetwork>

  constructor(network: ClientNetwork, target: z.input<typeof serviceTarget>, perSecond: number) {
    this.#process = runInNetwork(network, import.meta.filename, { target, perSecond })
  }

  async stop(): Promise<ServiceFigures> {
    return serviceFigures.parse(await this.#process.stop())
  }
}

/** Entry point of the child process. */
async function main(): Promise<void> {
  const { options, ended } = await readOptions(optionsSchema)
  const { target, perSecond } = options
  const agent = new Agent({ keepAlive: true })
  const failed: string[] = []
  const pods = new Set<string>()
  const pending = new Set<Promise<void>>()
  let [requests, worst] = [0, 0]
  const sendOne = async (keepAlive: boolean): Promise<void> => {
    const began = performance.now()
    try {
      pods.add(await sendRequest(target, keepAlive ? agent : undefined))
    } catch (error) {
      failed.push(`${new Date().toISOString()} ${String(error)}`)
    }
    worst = Math.max(worst, performance.now() - began)
  }
  const started = performance.now()
  let due = 0
  const timer = setInterval(() => {
    const dueNow = Math.floor(((performance.now() - started) / 1000) * perSecond)
    // If this process falls behind, only the last ten requests that are due are sent, and older ones are
    // skipped.
    due = Math.max(due, dueNow - 10)
    for (; due < dueNow; due++) {
      requests++
      const pendingRequest: Promise<void> = sendOne(due % 2 === 0).finally(() =>
        pending.delete(pendingRequest),
      )
      pending.add(pendingRequest)
    }
  }, 5)
  await ended
  clearInterval(timer)
  await Promise.all(pending)
  agent.destroy()
  const figures: ServiceFigures = { requests, failed, worst: Math.round(worst), pods: pods.size }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}

async function sendRequest(target: ServiceTarget, agent: Agent | undefined): Promise<string> {
  const { address, port, name } = target
  return new Promise((resolve, reject) => {
    const headers = name === undefined ? {} : { host: name }
    const options = {
      host: address,
      port,
      path: '/hostname',
      headers,
      agent: agent ?? false,
      timeout: timeoutMs,
    }
    const outgoing = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        response.statusCode === 200
          ? resolve(Buffer.concat(chunks).toString())
          : reject(new Error(`status ${response.statusCode}`)),
      )
    })
    outgoing.on('error', (error) => {
      // Retries once, as HTTP clients do: the server had closed the kept connection before the request.
      if (outgoing.reusedSocket && 'code' in error && error.code === 'ECONNRESET') {
        resolve(sendRequest(target, undefined))
      } else reject(error)
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${timeoutMs} ms`)))
    outgoing.end()
  })
}

if (import.meta.main) await main()
