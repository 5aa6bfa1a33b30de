import { setTimeout as sleep } from 'node:timers/promises'
import { heartbeatEvery } from '../../src/agent/host-resource/status-due.ts'
import type { HostStatus } from '../../src/contract/host-resource.ts'
import { atOnce } from '../../src/kit/semaphore.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { hosts } from '../../src/kube/host-resource.ts'
import { patchStatus } from '../../src/kube/write-objects.ts'

/** Agents of hosts that are none: each says how its host is, and gives a sign of life as often as a real one. */
export class CrowdAgents implements AsyncDisposable {
  readonly #client: KubeClient
  readonly #usual: HostStatus
  readonly #over = new AbortController()
  readonly #oneOf = atOnce(8)
  readonly #beats: Promise<void>
  /** When each is to give its next sign of life. */
  readonly #due = new Map<string, number>()
  readonly #given = new Set<string>()
  #failed = 0

  constructor(client: KubeClient, usual: HostStatus) {
    this.#client = client
    this.#usual = usual
    this.#beats = this.#beat()
  }

  /** Signs of life that could not be given in time. */
  get failed(): number {
    return this.#failed
  }

  async add(name: string, signal: AbortSignal): Promise<void> {
    await this.#say(name, signal)
    // Machines are not started all at once.
    this.#due.set(name, performance.now() + Math.random() * heartbeatEvery)
  }

  /** Says that a component of the host is beyond healing, or that all is well again. */
  async say(name: string, well: boolean, signal: AbortSignal): Promise<void> {
    if (well) this.#given.delete(name)
    else this.#given.add(name)
    await this.#say(name, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#beats
  }

  async #say(name: string, signal: AbortSignal): Promise<void> {
    const [first, ...others] = this.#usual.components ?? []
    const components = first === undefined ? [] : [this.#given.has(name) ? ill(first) : first, ...others]
    const status = { ...this.#usual, components, heartbeat: new Date().toISOString() }
    const { apiVersion, kind } = hosts
    const manifest = { apiVersion, kind, metadata: { name }, status }
    await patchStatus(this.#client, manifest, { force: true, manager: 'hyperkube-agent', signal })
  }

  async #beat(): Promise<void> {
    const { signal } = this.#over
    const running = new Set<Promise<void>>()
    while (!signal.aborted) {
      const now = performance.now()
      for (const [name] of [...this.#due].filter(([, at]) => at <= now)) {
        this.#due.set(name, now + heartbeatEvery)
        const one = this.#oneOf(async () => this.#say(name, signal)).catch(() => void this.#failed++)
        running.add(one)
        void one.finally(() => running.delete(one))
      }
      await sleep(200, undefined, { signal }).catch(() => undefined)
    }
    await Promise.allSettled(running)
  }
}

function ill(component: NonNullable<HostStatus['components']>[number]): typeof component {
  return { ...component, state: 'given-up', because: 'a trial' }
}
