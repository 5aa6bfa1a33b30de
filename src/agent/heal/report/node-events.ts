import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { EventRecorder } from '../../../kube/events.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { Host } from '../../host/host.ts'
import { clientOfNode } from '../../renewal/node-api.ts'
import { noteOf } from './action-text.ts'

export interface EventScene {
  readonly host: Host
  /** The one that counts now; undefined where there is none. */
  readonly plan: () => Promise<NodePlan | undefined>
  readonly signal: AbortSignal
}

/** So many wait while the API is away; of more, the oldest are forgotten. */
const most = 50
/** In milliseconds. What is older is no news. */
const oldest = 3_600_000
const again = 20_000
const timeout = 10_000
/** So long one connection is kept: certificates are renewed meanwhile. */
const lasts = 3_600_000

/** Speaks of what was done, at the node's object in the cluster and as the node itself. Nobody waits for it. */
export class NodeEvents {
  readonly #scene: EventScene
  readonly #waiting: HealAction[] = []
  #pumping = false
  #line:
    | (Disposable & { readonly recorder: EventRecorder; readonly node: KubeObject; readonly since: number })
    | undefined
  #failed = false

  constructor(scene: EventScene) {
    this.#scene = scene
    scene.signal.addEventListener('abort', () => this.#hangUp(), { once: true })
  }

  add(action: HealAction): void {
    this.#waiting.push(action)
    if (this.#waiting.length > most) this.#waiting.shift()
    if (!this.#pumping) void this.#pump()
  }

  /** Until nothing is left to say. Never fails: what cannot be said is in the journal. */
  async #pump(): Promise<void> {
    const { host, signal } = this.#scene
    this.#pumping = true
    try {
      for (let next = this.#next(); next !== undefined && !signal.aborted; next = this.#next()) {
        if (await this.#send(next)) {
          const at = this.#waiting.indexOf(next)
          if (at !== -1) this.#waiting.splice(at, 1)
        } else await host.clock.pause(again, signal)
      }
    } catch {
      // It shall end.
    } finally {
      this.#pumping = false
    }
  }

  #next(): HealAction | undefined {
    const now = this.#scene.host.clock.now().getTime()
    while (this.#waiting[0] !== undefined && now - Date.parse(this.#waiting[0].at) > oldest)
      this.#waiting.shift()
    return this.#waiting[0]
  }

  /** Whether it need not be said again. */
  async #send(action: HealAction): Promise<boolean> {
    const { signal } = this.#scene
    const line = await this.#lineNow().catch(() => undefined)
    if (line === undefined) return false
    if (line === 'nobody') return true
    this.#failed = false
    await line.recorder.record(line.node, noteOf(action), { signal, timeout })
    if (this.#failed) this.#hangUp()
    return !this.#failed
  }

  /** `nobody`: the host is no node. */
  async #lineNow() {
    const { host, plan, signal } = this.#scene
    const now = host.clock.now().getTime()
    if (this.#line !== undefined && now - this.#line.since < lasts) return this.#line
    this.#hangUp()
    const current = await plan()
    const name = current && nodeNameOf(current)
    const client = current && name !== undefined ? await clientOfNode(host, current, signal) : undefined
    if (client === undefined || name === undefined) return 'nobody'
    const recorder = new EventRecorder(client, {
      controller: 'hyperkube.dev/agent',
      instance: name,
      clock: () => host.clock.now(),
      onTrouble: () => {
        this.#failed = true
      },
    })
    // Kubelets name a node by its name in both places, and that is where people look for what is said of it.
    const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } }
    this.#line = { recorder, node, since: now, [Symbol.dispose]: () => client[Symbol.dispose]() }
    return this.#line
  }

  #hangUp(): void {
    this.#line?.[Symbol.dispose]()
    this.#line = undefined
  }
}

/** As its kubelet introduces itself. */
export function nodeNameOf({ components }: NodePlan): string | undefined {
  const kubelet = components.find(({ name }) => name === 'kubelet')
  const prefix = 'system:node:'
  const names = kubelet?.certificates.map(({ subject }) => subject.commonName) ?? []
  return names.find((name) => name.startsWith(prefix))?.slice(prefix.length)
}
