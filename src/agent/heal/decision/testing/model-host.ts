import type { HealState } from '../../../../contract/health.ts'
import type { Probe } from '../../../../contract/probe.ts'
import type { UnitState } from '../../../host/service-manager.ts'
import { idleUnit } from '../../../host/testing/idle-unit.ts'
import type { ProbeResult } from '../../probes/probe-runner.ts'
import {
  type ComponentObservation,
  isHealthySinceStart,
  type UnitObservation,
  updateUnitObservation,
} from '../component-observation.ts'
import type { HealStep } from '../decision-input.ts'
import { createProbeRecord, type ProbeRecord, recordProbeResult } from '../probe-record.ts'

/** Milliseconds between rounds. The model runs every probe once per round. */
export const tickMs = 5000

export const emptyHealState: HealState = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'HealState',
  escalations: {},
  disruptions: [],
  actions: [],
}

/** Services of the model host, each with its local dependencies. */
export const modelServices = {
  etcd: [],
  'kube-apiserver': ['etcd'],
  'kube-controller-manager': ['kube-apiserver'],
  containerd: [],
  'apiserver-proxy': [],
  kubelet: ['containerd', 'apiserver-proxy'],
  flanneld: ['apiserver-proxy'],
  'kube-proxy': ['apiserver-proxy'],
} as const satisfies Record<string, readonly string[]>
export type ModelService = keyof typeof modelServices
export const modelServiceNames = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'containerd',
  'apiserver-proxy',
  'kubelet',
  'flanneld',
  'kube-proxy',
] as const satisfies readonly ModelService[]

const failures = 3

function probe(name: string, scope: Probe['scope']): Probe {
  const check = { kind: 'http', url: `http://127.0.0.1/${name}` } as const
  return { name, scope, check, intervalMs: tickMs, timeoutMs: tickMs, failureThreshold: failures }
}
const localProbe = probe('livez', 'local')
const remoteProbe = probe('readyz', 'remote')

interface ModelProcess {
  startCount: number
  restarts: number
  /** Time of the last start, in milliseconds. */
  started: number
  state: 'runs' | 'hangs' | 'ended' | 'stopped'
  /** True if the files of the service are corrupted, so it cannot start. */
  isCorrupted: boolean
  /** True if the service hangs soon after every start. */
  alwaysHangs: boolean
}

/**
 * Model of a host whose services follow simple rules. The model knows the true state; healing sees it only
 * through probes.
 */
export class ModelHost {
  now = Date.UTC(2027, 0, 1)
  hasQuorum = true
  /** True if at least one API server of the cluster can be reached. */
  isApiReachable = true
  dataLost = false
  readonly #processes = new Map<ModelService, ModelProcess>()
  #counts = new Map<string, ProbeRecord>()
  #units = new Map<ModelService, UnitObservation>()

  constructor() {
    for (const name of modelServiceNames) {
      this.#processes.set(name, {
        startCount: 1,
        restarts: 0,
        started: -Infinity,
        state: 'runs',
        isCorrupted: false,
        alwaysHangs: false,
      })
    }
  }

  process(name: ModelService): ModelProcess {
    const process = this.#processes.get(name)
    if (process === undefined) throw new Error(`no ${name}`)
    return process
  }

  /** Drops all observations, as a restart of the agent does. */
  forgetObservations(): void {
    this.#counts = new Map()
    this.#units = new Map()
  }

  #age(name: ModelService): number {
    return this.now - this.process(name).started
  }

  /**
   * True if the dependencies of a service serve it. Without them some services exit and others never become
   * ready.
   */
  isServed(name: ModelService): boolean {
    switch (name) {
      case 'kube-apiserver':
        return this.isHealthy('etcd') && this.hasQuorum
      case 'kube-controller-manager':
        return this.isHealthy('kube-apiserver') && this.isServed('kube-apiserver')
      case 'flanneld':
        return this.isHealthy('apiserver-proxy') && this.isApiReachable
      default:
        return true
    }
  }

  #wasReady = new Set<string>()
  /** True if the health endpoint of a service reports healthy. */
  isHealthy(name: ModelService): boolean {
    const { state, startCount } = this.process(name)
    if (state !== 'runs' || this.#age(name) < 2 * tickMs) return false
    if (name === 'kubelet' && !this.isHealthy('containerd')) return false
    const key = `${name} ${startCount}`
    // A service that was ready once stays healthy without its dependencies: the API server still serves
    // reads, and flanneld keeps its routes.
    if (name !== 'kube-controller-manager' && this.#wasReady.has(key)) return true
    const served = this.isServed(name)
    if (served) this.#wasReady.add(key)
    return served
  }

  /** Advances time by one round and lets systemd restart services. */
  advance(): void {
    this.now += tickMs
    for (const name of modelServiceNames) {
      const one = this.process(name)
      if (one.state === 'runs' && one.alwaysHangs && this.#age(name) >= 3 * tickMs) one.state = 'hangs'
      const isUnserved = one.state === 'runs' && !this.isHealthy(name) && !this.isServed(name)
      const hasExited = isUnserved && name !== 'flanneld' && this.#age(name) >= 3 * tickMs
      if (hasExited) one.state = 'ended'
      else if (one.state === 'ended' && !(name === 'etcd' && this.dataLost)) this.#start(one, true)
    }
  }

  #start(one: ModelProcess, bySystemd: boolean): void {
    one.startCount++
    one.restarts = bySystemd ? one.restarts + 1 : 0
    one.started = this.now
    one.state = one.isCorrupted ? 'ended' : 'runs'
  }

  perform({ component, actions }: HealStep): void {
    const name = modelServiceNames.find((one) => one === component)
    if (name === undefined) throw new Error(`unexpected component ${component}`)
    for (const action of actions) {
      if (action === 'repair') this.process(name).isCorrupted = false
      if (action === 'restart') this.#start(this.process(name), false)
    }
  }

  /** Returns what an agent observes now. */
  observe(): ComponentObservation[] {
    return modelServiceNames.map((name) => {
      const unit = updateUnitObservation(
        `${name}.service`,
        this.#units.get(name),
        this.#unitState(name),
        this.now,
      )
      const local = this.#count(name, localProbe, this.isHealthy(name))
      const ready = this.isHealthy(name) && this.#serves(name)
      const observed: ComponentObservation = {
        component: name,
        needs: modelServices[name],
        unit,
        probes: [local, this.#count(name, remoteProbe, ready)],
        slowestProbeMs: failures * tickMs,
        drifted: this.process(name).isCorrupted ? [`/etc/${name}`] : [],
        unrepairable: [],
        ...(name === 'etcd' && this.dataLost
          ? {
              dataRisk: {
                code: 'ETCD_DATA_LOST',
                because: 'its data is gone',
                hint: 'hyperkube node remove',
              },
            }
          : {}),
      }
      this.#units.set(name, { ...unit, wasHealthy: unit.wasHealthy || isHealthySinceStart(observed) })
      return observed
    })
  }

  /** True if the remote probe of a service succeeds. */
  #serves(name: ModelService): boolean {
    if (name === 'etcd') return this.hasQuorum
    if (name === 'apiserver-proxy') return this.isApiReachable
    return this.isServed(name)
  }

  #count(name: ModelService, one: Probe, isHealthy: boolean): ProbeRecord {
    const key = `${name}/${one.name}`
    const result: ProbeResult = isHealthy
      ? { state: 'healthy' }
      : { state: 'unhealthy', message: 'refused', code: 'HEALTH_NO_RESPONSE' }
    const next = recordProbeResult(
      this.#counts.get(key) ?? createProbeRecord(name, one, this.now),
      one,
      result,
      this.now,
    )
    this.#counts.set(key, next)
    return next
  }

  #unitState(name: ModelService): UnitState {
    const { state, startCount, restarts } = this.process(name)
    const [active, sub] =
      state === 'stopped'
        ? ['inactive', 'dead']
        : state === 'ended'
          ? ['activating', 'auto-restart']
          : this.isHealthy(name) || state === 'hangs' || name === 'kube-controller-manager'
            ? ['active', 'running']
            : ['activating', 'start']
    return { ...idleUnit, active, sub, restarts, pid: 100, invocation: `${startCount}`, type: 'notify' }
  }
}
