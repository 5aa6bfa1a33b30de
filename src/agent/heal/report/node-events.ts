import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { type EventNote, EventRecorder } from '../../../kube/events.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { Host } from '../../host/host.ts'
import { createNodeClient } from '../../renewal/node-api.ts'

export interface NodeEventsDeps {
  readonly host: Host
  /** Reads the current plan, if there is one. */
  readonly plan: () => Promise<NodePlan | undefined>
  readonly signal: AbortSignal
}

/** Maximum number of events that wait while the API is unreachable. The oldest events are dropped first. */
const maxPending = 50
/** Milliseconds after which an action is no longer reported. */
const maxAgeMs = 3_600_000
const retryIntervalMs = 20_000
const requestTimeoutMs = 10_000
/** Milliseconds after which a connection is replaced, because certificates are renewed from time to time. */
const connectionLifetimeMs = 3_600_000

/**
 * Records healing actions as Kubernetes events of the node, with the credentials of the node. Callers do not
 * wait for the API.
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

  /** Sends all pending events. Never fails, because the journal contains every action anyway. */
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
      // The wait was aborted because the agent ends.
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

  /**
   * Sends an event. Returns true if no retry is needed: the event was recorded, or the host is not a node.
   */
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

  /** Connects to the API. Returns `not-a-node` if the host is not a Kubernetes node. */
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
    // `kubectl describe node` selects events by uid, and kubelets use the node name as uid.
    const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } }
    this.#connection = { recorder, node, since: now, [Symbol.dispose]: () => client[Symbol.dispose]() }
    return this.#connection
  }

  #disconnect(): void {
    this.#connection?.[Symbol.dispose]()
    this.#connection = undefined
  }
}

/** Returns the node name from the kubelet's certificate, or undefined if the host is not a node. */
export function findNodeName({ components }: NodePlan): string | undefined {
  const kubelet = components.find(({ name }) => name === 'kubelet')
  const prefix = 'system:node:'
  const names = kubelet?.certificates.map(({ subject }) => subject.commonName) ?? []
  return names.find((name) => name.startsWith(prefix))?.slice(prefix.length)
}

type OutcomeText = Record<HealAction['outcome'], string>

/** Verb for each action. The component name follows the verb. */
const verbs: Readonly<Record<HealAction['action'], OutcomeText>> = {
  restart: { done: 'restarted', failed: 'failed to restart' },
  regenerate: { done: 'regenerated derived files of', failed: 'failed to regenerate derived files of' },
  repair: { done: 'repaired drift of', failed: 'failed to repair all drift of' },
  'capture-logs': { done: 'saved the log of', failed: 'failed to save the log of' },
  'give-up': { done: 'stopped healing', failed: 'stopped healing' },
  refuse: { done: 'refused to heal', failed: 'refused to heal' },
  recovered: { done: 'confirmed recovery of', failed: 'confirmed recovery of' },
}

/** Event reason of each action. */
const reasons: Readonly<Record<HealAction['action'], string>> = {
  restart: 'HyperkubeRestarted',
  regenerate: 'HyperkubeRegenerated',
  repair: 'HyperkubeRepaired',
  'capture-logs': 'HyperkubeCapturedLogs',
  'give-up': 'HyperkubeHealExhausted',
  refuse: 'HyperkubeRefused',
  recovered: 'HyperkubeRecovered',
}

/** Formats an action as one line for the agent's log. Captured log lines are left out. */
export function formatLogLine(action: HealAction): string {
  const { details } = action
  const shown = action.action === 'capture-logs' ? details.slice(0, 1) : details
  const more = shown.length === 0 ? '' : ` (${shown.join('; ')})`
  return `heal: ${formatSummary(action)}${more}`.replaceAll('\n', ' ')
}

/** Converts an action to an event, which `kubectl describe node` shows. */
function toEventNote(action: HealAction): EventNote {
  const isGood = action.action === 'recovered' || (action.action === 'repair' && action.outcome === 'done')
  return {
    type: isGood ? 'Normal' : 'Warning',
    reason: action.outcome === 'done' ? reasons[action.action] : `${reasons[action.action]}Failed`,
    action: 'Heal',
    note: formatSummary(action),
  }
}

function formatSummary({ action, component, because, code, outcome }: HealAction): string {
  const reason = code === undefined ? because : `${because} (${code})`
  return `${verbs[action][outcome]} ${component}: ${reason}`
}
