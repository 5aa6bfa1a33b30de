import { idleUnit } from '../../../host/testing/idle-unit.ts'
import type { HealMemory } from '../../../../contract/heal-state.ts'
import type { Probe } from '../../../../contract/probe.ts'
import type { UnitState } from '../../../host/systemd.ts'
import type { Seen } from '../../probe-result.ts'
import type { ComponentSeen } from '../component-observation.ts'
import { isWellInThisLife } from '../component-condition.ts'
import { type Counted, counted, neverAsked } from '../probe-record.ts'
import type { HealStep } from '../heal-step.ts'
import { nextUnit, type UnitSeen } from '../unit-observation.ts'

/** Milliseconds between two looks; in the model all probes are asked once in that time. */
export const tick = 5000

export const nothingRemembered: HealMemory = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'HealMemory',
  climbs: {},
  spent: [],
  actions: [],
}

/** What a host of the model runs, each with what it needs there. */
export const services = {
  etcd: [],
  'kube-apiserver': ['etcd'],
  'kube-controller-manager': ['kube-apiserver'],
  containerd: [],
  'apiserver-proxy': [],
  kubelet: ['containerd', 'apiserver-proxy'],
  flanneld: ['apiserver-proxy'],
  'kube-proxy': ['apiserver-proxy'],
} as const satisfies Record<string, readonly string[]>
export type Service = keyof typeof services
export const names = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'containerd',
  'apiserver-proxy',
  'kubelet',
  'flanneld',
  'kube-proxy',
] as const satisfies readonly Service[]

const failures = 3

function probe(name: string, scope: Probe['scope']): Probe {
  const check = { kind: 'http', url: `http://127.0.0.1/${name}` } as const
  return { name, scope, check, every: tick, timeout: tick, failures }
}
const own = probe('livez', 'local')
const world = probe('readyz', 'remote')

interface Process {
  life: number
  restarts: number
  /** When it was started last, in milliseconds. */
  started: number
  state: 'runs' | 'hangs' | 'ended' | 'stopped'
  /** Its files are not what they were: it cannot start. */
  spoilt: boolean
  /** Whatever is done, it hangs soon after a start. */
  cursed: boolean
}

/** A host whose services live and die by simple rules. It knows the truth that healing only sees through probes. */
export class ModelHost {
  now = Date.UTC(2027, 0, 1)
  quorum = true
  /** Whether any API server of the cluster can be reached. */
  api = true
  dataLost = false
  readonly #processes = new Map<Service, Process>()
  #counts = new Map<string, Counted>()
  #units = new Map<Service, UnitSeen>()

  constructor() {
    for (const name of names) {
      this.#processes.set(name, {
        life: 1,
        restarts: 0,
        started: -Infinity,
        state: 'runs',
        spoilt: false,
        cursed: false,
      })
    }
  }

  of(name: Service): Process {
    const process = this.#processes.get(name)
    if (process === undefined) throw new Error(`no ${name}`)
    return process
  }

  /** An agent that dies knows nothing of what it has seen. */
  forgetSeen(): void {
    this.#counts = new Map()
    this.#units = new Map()
  }

  #age(name: Service): number {
    return this.now - this.of(name).started
  }

  /** Whether what it needs serves it. Of those that end without that, and those that never get ready. */
  isServed(name: Service): boolean {
    switch (name) {
      case 'kube-apiserver':
        return this.isWell('etcd') && this.quorum
      case 'kube-controller-manager':
        return this.isWell('kube-apiserver') && this.isServed('kube-apiserver')
      case 'flanneld':
        return this.isWell('apiserver-proxy') && this.api
      default:
        return true
    }
  }

  #wasReady = new Set<string>()
  /** Whether it answers that it is well. */
  isWell(name: Service): boolean {
    const { state, life } = this.of(name)
    if (state !== 'runs' || this.#age(name) < 2 * tick) return false
    if (name === 'kubelet' && !this.isWell('containerd')) return false
    const key = `${name} ${life}`
    // One that was ready once goes on without: the API server reads, flanneld routes.
    if (name !== 'kube-controller-manager' && this.#wasReady.has(key)) return true
    const served = this.isServed(name)
    if (served) this.#wasReady.add(key)
    return served
  }

  /** Lets the time of one look pass, and systemd do its work. */
  pass(): void {
    this.now += tick
    for (const name of names) {
      const one = this.of(name)
      if (one.state === 'runs' && one.cursed && this.#age(name) >= 3 * tick) one.state = 'hangs'
      const unserved = one.state === 'runs' && !this.isWell(name) && !this.isServed(name)
      const gaveUp = unserved && name !== 'flanneld' && this.#age(name) >= 3 * tick
      if (gaveUp) one.state = 'ended'
      else if (one.state === 'ended' && !(name === 'etcd' && this.dataLost)) this.#start(one, true)
    }
  }

  #start(one: Process, bySystemd: boolean): void {
    one.life++
    one.restarts = bySystemd ? one.restarts + 1 : 0
    one.started = this.now
    one.state = one.spoilt ? 'ended' : 'runs'
  }

  perform({ component, actions }: HealStep): void {
    const name = names.find((one) => one === component)
    if (name === undefined) throw new Error(`nobody may touch ${component}`)
    for (const action of actions) {
      if (action === 'put-back') this.of(name).spoilt = false
      if (action === 'restart') this.#start(this.of(name), false)
    }
  }

  /** As an agent sees it, which looks now. */
  look(): ComponentSeen[] {
    return names.map((name) => {
      const unit = nextUnit(`${name}.service`, this.#units.get(name), this.#unitState(name), this.now)
      const local = this.#count(name, own, this.isWell(name))
      const ready = this.isWell(name) && this.#serves(name)
      const seen: ComponentSeen = {
        component: name,
        needs: services[name],
        unit,
        probes: [local, this.#count(name, world, ready)],
        slowest: failures * tick,
        drifted: this.of(name).spoilt ? [`/etc/${name}`] : [],
        beyond: [],
        ...(name === 'etcd' && this.dataLost
          ? { danger: { code: 'ETCD_DATA_LOST', because: 'its data is gone', hint: 'hyperkube node remove' } }
          : {}),
      }
      this.#units.set(name, { ...unit, wasWell: unit.wasWell || isWellInThisLife(seen) })
      return seen
    })
  }

  /** What its remote probe asks. */
  #serves(name: Service): boolean {
    if (name === 'etcd') return this.quorum
    if (name === 'apiserver-proxy') return this.api
    return this.isServed(name)
  }

  #count(name: Service, one: Probe, isWell: boolean): Counted {
    const key = `${name}/${one.name}`
    const answer: Seen = isWell
      ? { state: 'well' }
      : { state: 'failed', seen: 'refused', code: 'HEALTH_NO_ANSWER' }
    const next = counted(this.#counts.get(key) ?? neverAsked(name, one, this.now), one, answer, this.now)
    this.#counts.set(key, next)
    return next
  }

  #unitState(name: Service): UnitState {
    const { state, life, restarts } = this.of(name)
    const [active, sub] =
      state === 'stopped'
        ? ['inactive', 'dead']
        : state === 'ended'
          ? ['activating', 'auto-restart']
          : this.isWell(name) || state === 'hangs' || name === 'kube-controller-manager'
            ? ['active', 'running']
            : ['activating', 'start']
    return { ...idleUnit, active, sub, restarts, pid: 100, invocation: `${life}`, type: 'notify' }
  }
}
