import { setTimeout as sleep } from 'node:timers/promises'
import { heartbeatIntervalMs } from '../../src/agent/host-resource/host-resource-loop.ts'
import type { HostStatus } from '../../src/contract/host-resource.ts'
import { createSemaphore } from '../../src/kit/concurrency.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { hostKind } from '../../src/kube/host-resource.ts'
import { applyStatus } from '../../src/kube/write-objects.ts'

/** Agents without hosts: each reports a host status and sends heartbeats at the interval of a real agent. */
export class SimulatedAgents implements AsyncDisposable {
  readonly #client: KubeClient
  readonly #template: HostStatus
  readonly #stop = new AbortController()
  readonly #limit = createSemaphore(8)
  readonly #heartbeats: Promise<void>
  /** Time of the next heartbeat, by host. */
  readonly #due = new Map<string, number>()
  readonly #exhausted = new Set<string>()
  #failed = 0

  constructor(client: KubeClient, template: HostStatus) {
    this.#client = client
    this.#template = template
    this.#heartbeats = this.#runHeartbeats()
  }

  /** Number of heartbeats that failed. */
  get failed(): number {
    return this.#failed
  }

  async add(name: string, signal: AbortSignal): Promise<void> {
    await this.#reportStatus(name, signal)
    // Starts heartbeats at random times, because the agents of real hosts do not start all at once.
    this.#due.set(name, performance.now() + Math.random() * heartbeatIntervalMs)
  }

  /** Reports all components of a host as healthy, or one of them as exhausted. */
  async setHealthy(name: string, healthy: boolean, signal: AbortSignal): Promise<void> {
    if (healthy) this.#exhausted.delete(name)
    else this.#exhausted.add(name)
    await this.#reportStatus(name, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#heartbeats
  }

  async #reportStatus(name: string, signal: AbortSignal): Promise<void> {
    const [first, ...others] = this.#template.components ?? []
    const components =
      first === undefined ? [] : [this.#exhausted.has(name) ? markExhausted(first) : first, ...others]
    const status = { ...this.#template, components, heartbeat: new Date().toISOString() }
    const { apiVersion, kind } = hostKind
    const manifest = { apiVersion, kind, metadata: { name }, status }
    await applyStatus(this.#client, manifest, { force: true, manager: 'hyperkube-agent', signal })
  }

  async #runHeartbeats(): Promise<void> {
    const { signal } = this.#stop
    const running = new Set<Promise<void>>()
    while (!signal.aborted) {
      const now = performance.now()
      for (const [name] of [...this.#due].filter(([, at]) => at <= now)) {
        this.#due.set(name, now + heartbeatIntervalMs)
        const heartbeat = this.#limit(async () => this.#reportStatus(name, signal)).catch(
          () => void this.#failed++,
        )
        running.add(heartbeat)
        void heartbeat.finally(() => running.delete(heartbeat))
      }
      await sleep(200, undefined, { signal }).catch(() => undefined)
    }
    await Promise.allSettled(running)
  }
}

function markExhausted(component: NonNullable<HostStatus['components']>[number]): typeof component {
  return { ...component, state: 'exhausted', because: 'a test' }
}
