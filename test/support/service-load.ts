import { Agent, request } from 'node:http'
import { z } from 'zod'
import type { Host } from '../../lab/hosts/host.ts'
import { inNetworkOf, orderOf } from './network-process.ts'

const order = z.strictObject({ address: z.string(), perSecond: z.number() })

/** What clients of a service have seen: none of them asks twice. */
export const serviceFigures = z.strictObject({
  requests: z.int(),
  failed: z.array(z.string()),
  /** Milliseconds. */
  worst: z.number(),
  /** How many pods have answered. */
  pods: z.int(),
})
export type ServiceFigures = z.infer<typeof serviceFigures>

const patience = 5000

/** Requests at a steady pace to a service, from the network of a host: half over new connections, half over kept ones. */
export class ServiceLoad {
  readonly #process: ReturnType<typeof inNetworkOf>

  constructor(host: Host, address: string, perSecond: number) {
    this.#process = inNetworkOf(host, import.meta.filename, { address, perSecond })
  }

  async stop(): Promise<ServiceFigures> {
    return serviceFigures.parse(await this.#process.stop())
  }
}

/** The process itself. */
async function main(): Promise<void> {
  const { order: told, ended } = await orderOf(order)
  const { address, perSecond } = told
  const agent = new Agent({ keepAlive: true })
  const failed: string[] = []
  const pods = new Set<string>()
  const pending = new Set<Promise<void>>()
  let [requests, worst] = [0, 0]
  const one = async (kept: boolean): Promise<void> => {
    const began = performance.now()
    try {
      pods.add(await ask(address, kept ? agent : undefined))
    } catch (error) {
      failed.push(`${new Date().toISOString()} ${String(error)}`)
    }
    worst = Math.max(worst, performance.now() - began)
  }
  const started = performance.now()
  let due = 0
  const timer = setInterval(() => {
    const owed = Math.floor(((performance.now() - started) / 1000) * perSecond)
    // What this machine itself has missed is not made up for.
    due = Math.max(due, owed - 10)
    for (; due < owed; due++) {
      requests++
      const done: Promise<void> = one(due % 2 === 0).finally(() => pending.delete(done))
      pending.add(done)
    }
  }, 5)
  await ended
  clearInterval(timer)
  await Promise.all(pending)
  agent.destroy()
  const figures: ServiceFigures = { requests, failed, worst: Math.round(worst), pods: pods.size }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}

async function ask(address: string, agent: Agent | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: address, port: 80, path: '/hostname', agent: agent ?? false, timeout: patience }
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
      // As every client does: a connection that the server had closed already carried nothing.
      if (outgoing.reusedSocket && 'code' in error && error.code === 'ECONNRESET') {
        resolve(ask(address, undefined))
      } else reject(error)
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${patience} ms`)))
    outgoing.end()
  })
}

if (import.meta.main) await main()
