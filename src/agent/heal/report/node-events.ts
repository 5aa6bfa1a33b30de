import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { EventRecorder } from '../../../kube/events.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { Host } from '../../host/host.ts'
import { createNodeClient } from '../../renewal/node-api.ts'
import { toEventNote } from './action-text.ts'

export interface NodeEventsDeps {
  readonly host: Host
  /** Reads the current plan; undefined if there is none. */
  readonly plan: () => Promise<NodePlan | undefined>
  readonly signal: AbortSignal
}

/** Events that wait while the API is unreachable; beyond that, the oldest are dropped. */
const maxPending = 50
/** In milliseconds. Older actions are not reported. */
const maxAgeMs = 3_600_000
const retryIntervalMs = 20_000
const requestTimeoutMs = 10_000
/** A connection is replaced after this time, because certificates are renewed meanwhile. */
const connectionLifetimeMs = 3_600_000

/**
 * Records healing actions as Kubernetes events of the node, with the node's own credentials. Callers never
 * wait.
 */
export class NodeEvents {
  readonly #deps: NodeEventsDeps
  readonly #pending: HealAction[] = []
  #isSending = false
  #connection:
    | (Disposable & { readonly recorder: EventRecorder; readonly node: KubeObject; readonly since: number })
    | undefined
  #failed = false

  constructor(deps: NodeEventsDeps) {
    this.#deps = deps
    deps.signal.addEventListener('abort', () => this.#disconnect(), { once: true })
  }

  add(action: HealAction): void {
    this.#pending.push(action)
    if (this.#pending.length > maxPending) this.#pending.shift()
    if (!this.#isSending) void this.#sendAll()
  }

  /** Sends until nothing is pending. Never fails: the journal has every action. */
  async #sendAll(): Promise<void> {
    const { host, signal } = this.#deps
    this.#isSending = true
    try {
      for (let next = this.#next(); next !== undefined && !signal.aborted; next = this.#next()) {
        if (await this.#send(next)) {
          const at = this.#pending.indexOf(next)
          if (at !== -1) this.#pending.splice(at, 1)
        } else await host.clock.pause(retryIntervalMs, signal)
      }
    } catch {
      // The agent ends.
    } finally {
      this.#isSending = false
    }
  }

  #next(): HealAction | undefined {
    const now = this.#deps.host.clock.now().getTime()
    while (this.#pending[0] !== undefined && now - Date.parse(this.#pending[0].at) > maxAgeMs)
      this.#pending.shift()
    return this.#pending[0]
  }

  /** Whether the event was recorded or need not be recorded. */
  async #send(action: HealAction): Promise<boolean> {
    const { signal } = this.#deps
    const connection = await this.#connect().catch(() => undefined)
    if (connection === undefined) return false
    if (connection === 'not-a-node') return true
    this.#failed = false
    await connection.recorder.record(connection.node, toEventNote(action), {
      signal,
      timeout: requestTimeoutMs,
    })
    if (this.#failed) this.#disconnect()
    return !this.#failed
  }

  /** `not-a-node`: the host is no Kubernetes node. */
  async #connect() {
    const { host, plan, signal } = this.#deps
    const now = host.clock.now().getTime()
    if (this.#connection !== undefined && now - this.#connection.since < connectionLifetimeMs)
      return this.#connection
    this.#disconnect()
    const current = await plan()
    const name = current && findNodeName(current)
    const client = current && name !== undefined ? await createNodeClient(host, current, signal) : undefined
    if (client === undefined || name === undefined) return 'not-a-node'
    const recorder = new EventRecorder(client, {
      controller: 'hyperkube.dev/agent',
      instance: name,
      clock: () => host.clock.now(),
      onError: () => {
        this.#failed = true
      },
    })
    // Kubelets use the node's name as its uid in events, and `kubectl describe node` selects by that.
    const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } }
    this.#connection = { recorder, node, since: now, [Symbol.dispose]: () => client[Symbol.dispose]() }
    return this.#connection
  }

  #disconnect(): void {
    this.#connection?.[Symbol.dispose]()
    this.#connection = undefined
  }
}

/** The node name in the certificate of its kubelet. */
export function findNodeName({ components }: NodePlan): string | undefined {
  const kubelet = components.find(({ name }) => name === 'kubelet')
  const prefix = 'system:node:'
  const names = kubelet?.certificates.map(({ subject }) => subject.commonName) ?? []
  return names.find((name) => name.startsWith(prefix))?.slice(prefix.length)
}
