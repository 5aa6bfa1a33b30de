import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { z } from 'zod'
import { mapWithConcurrency } from '../../../src/kit/concurrency.ts'
import { KubeClient } from '../../../src/kube/client.ts'
import { registerCluster } from '../../../src/manager/fleet/management.ts'
import { ManagedCluster } from './managed-cluster.ts'

const request = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open'), server: z.string(), ca: z.string(), token: z.string() }),
  /** Adds clusters until there are `count`. */
  z.object({ type: z.literal('grow'), count: z.int() }),
  /** Signs and writes a document for each cluster. */
  z.object({ type: z.literal('publish'), generation: z.int() }),
  z.object({ type: z.literal('health'), index: z.int(), state: z.enum(['healthy', 'degraded']) }),
])
type MembersRequest = z.infer<typeof request>

const response = z.object({ error: z.string().optional() })
/** Requests at the same time while clusters join, and while documents are published. */
const concurrency = 16

export function formatMemberName(index: number): string {
  return `member-${String(index).padStart(5, '0')}`
}

/**
 * Simulated managed clusters in a process of their own: the real managed side, each with its own credential and
 * connections. Only their own API is in memory.
 */
export class MembersProcess implements AsyncDisposable {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async open(
    access: Omit<Extract<MembersRequest, { type: 'open' }>, 'type'>,
  ): Promise<MembersProcess> {
    const members = new MembersProcess(fork(import.meta.filename, ['members'], { stdio: 'inherit' }))
    await members.send({ type: 'open', ...access })
    return members
  }

  async send(message: MembersRequest): Promise<void> {
    const replied = once(this.#child, 'message')
    this.#child.send(message)
    const [reply]: unknown[] = await replied
    const { error } = response.parse(reply)
    if (error !== undefined) throw new Error(`the simulated clusters failed: ${error}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}

/** Entry point of the child process. */
function main(): void {
  const clusters: ManagedCluster[] = []
  let admin: KubeClient | undefined
  let access = { servers: [''], ca: '' }
  const handle = async (message: MembersRequest): Promise<void> => {
    if (message.type === 'open') {
      access = { servers: [message.server], ca: message.ca }
      const { signal } = new AbortController()
      admin = new KubeClient({ ...access, credentials: { token: message.token }, signal })
      return
    }
    if (admin === undefined) throw new Error('the management plane is not open')
    const client = admin
    switch (message.type) {
      case 'grow': {
        const added = Array.from(
          { length: message.count - clusters.length },
          (_, index) => new ManagedCluster(formatMemberName(clusters.length + index)),
        )
        clusters.push(...added)
        await mapWithConcurrency(concurrency, added, async (cluster) => {
          await registerCluster(client, cluster.name, { kind: 'simulated' })
          await cluster.start(client, access)
        })
        return
      }
      case 'publish':
        await mapWithConcurrency(concurrency, clusters, async (cluster) =>
          cluster.publish(client, message.generation),
        )
        return
      default: {
        const cluster = clusters[message.index]
        if (cluster !== undefined) cluster.health = message.state
      }
    }
  }
  process.on('message', (value) => {
    handle(request.parse(value)).then(
      () => process.send?.({}),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
  // The connections of all clusters end with the process.
  process.on('disconnect', () => process.exit(0))
}

if (process.argv[2] === 'members') main()
