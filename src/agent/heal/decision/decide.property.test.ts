import { array, assert, constant, constantFrom, nat, oneof, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { HealAction, HealState } from '../../../contract/health.ts'
import { recordActions } from './action-history.ts'
import { decideHealing, type HealDecision } from './decide.ts'
import { type HealStep, isDisruptive } from './decision-input.ts'
import {
  defaultHealBudget,
  defaultPolicy,
  type EscalationPolicy,
  legacyScriptPolicy,
} from './escalation-policy.ts'
import {
  emptyHealState,
  ModelHost,
  type ModelService,
  modelServiceNames,
  modelServices,
  tickMs,
} from './testing/model-host.ts'

const service = constantFrom(...modelServiceNames)
/** Number of rounds for which an event lasts. */
const duration = nat(120)

/** Events that can happen to a host, one after the other. */
const hostEvent = oneof(
  record({ what: constantFrom('kill' as const, 'hang' as const, 'stop' as const), service }),
  /**
   * The files of the service are corrupted. With `spoil-and-kill` the service also crashes, so it reads the
   * corrupted files at once.
   */
  record({ what: constantFrom('spoil' as const, 'spoil-and-kill' as const), service }),
  record({ what: constant('curse' as const), service, lasts: nat(400) }),
  record({
    what: constantFrom('no-quorum' as const, 'no-api' as const, 'pause' as const, 'taken' as const),
    lasts: duration,
  }),
  record({ what: constant('lose-data' as const), lasts: nat(30) }),
  record({ what: constant('agent-dies' as const) }),
  record({ what: constant('wait' as const), lasts: nat(60) }),
)
type HostEvent = typeof hostEvent extends { generate(...args: never[]): { value: infer T } } ? T : never

/**
 * Throws if the condition is false. Used instead of `expect`, which would take longer than the rest of the
 * test.
 */
function ensure(condition: boolean, what: string): void {
  if (!condition) throw new Error(what)
}

function listNeeds(name: ModelService): ModelService[] {
  return modelServices[name].flatMap((need) => [need, ...listNeeds(need)])
}

/** Simulates a host with its healing agent and checks the invariants of healing. */
class Simulation {
  readonly host = new ModelHost()
  readonly policy: EscalationPolicy
  healState: HealState = emptyHealState
  suspended: 'paused' | 'taken' | undefined
  readonly restarts: number[] = []
  readonly notices: HealAction[] = []

  constructor(policy: EscalationPolicy) {
    this.policy = policy
  }

  /** Runs one healing round and returns its decision. */
  step(): HealDecision {
    const { host, policy, healState, suspended } = this
    host.advance()
    const components = host.observe()
    const decision = decideHealing({
      now: host.now,
      observedSince: 0,
      components,
      healState,
      policy,
      budget: defaultHealBudget,
      suspended: suspended === undefined ? undefined : { because: suspended },
    })
    this.healState = decision.healState
    this.notices.push(...decision.notices)
    ensure(suspended === undefined || decision.steps.length === 0, 'no step while suspended')
    decision.steps.forEach((step, index) => this.#perform(step, decision.steps[index + 1]))
    return decision
  }

  #perform(step: HealStep, next: HealStep | undefined): void {
    const { host } = this
    const name = modelServiceNames.find((one) => one === step.component)
    if (name === undefined) throw new Error(`unexpected component ${step.component}`)
    ensure(name !== 'etcd' || !host.dataLost, 'what risks data is refused')
    if (isDisruptive(step)) {
      // The legacy script policy restarts the proxy before another component, even if the proxy is healthy.
      const isLegacyProxyRestart =
        this.policy === legacyScriptPolicy && name === 'apiserver-proxy' && next?.because !== undefined
      if (!isLegacyProxyRestart) this.#mayRestart(name)
      this.restarts.push(host.now)
      const recent = this.restarts.filter((at) => host.now - at < defaultHealBudget.windowMs)
      ensure(recent.length <= defaultHealBudget.max, 'the budget')
    }
    host.perform(step)
    const at = new Date(host.now).toISOString()
    const { component, because } = step
    const done = step.actions.map(
      (action) => ({ at, component, action, because, outcome: 'done', details: [] }) as const,
    )
    this.healState = recordActions(
      this.healState,
      done.map((one) => ({ ...one, details: [] })),
    )
  }

  #mayRestart(name: ModelService): void {
    const { host, policy } = this
    ensure(!host.isHealthy(name), `${name} is healthy`)
    const { state } = host.process(name)
    // Components with their own steps, as in the legacy script policy, have no start grace. They may be
    // restarted while they are starting.
    if (policy.componentSteps.has(name)) return
    ensure(state === 'hangs' || state === 'stopped', `${name} is not to blame: it ${state}`)
    for (const need of listNeeds(name)) ensure(host.isHealthy(need), `${need} comes before ${name}`)
  }

  apply(event: HostEvent): void {
    const { host } = this
    const during = (count: number, begin: () => void, end: () => void): void => {
      begin()
      for (let i = 0; i < count; i++) this.step()
      end()
    }
    switch (event.what) {
      case 'kill':
        host.process(event.service).state = 'ended'
        break
      case 'hang':
        host.process(event.service).state = 'hangs'
        break
      case 'stop':
        host.process(event.service).state = 'stopped'
        break
      case 'spoil':
        host.process(event.service).isCorrupted = true
        break
      case 'spoil-and-kill':
        host.process(event.service).isCorrupted = true
        host.process(event.service).state = 'ended'
        break
      case 'curse':
        during(
          event.lasts,
          () => (host.process(event.service).alwaysHangs = true),
          () => (host.process(event.service).alwaysHangs = false),
        )
        break
      case 'no-quorum':
        during(
          event.lasts,
          () => (host.hasQuorum = false),
          () => (host.hasQuorum = true),
        )
        break
      case 'no-api':
        during(
          event.lasts,
          () => (host.isApiReachable = false),
          () => (host.isApiReachable = true),
        )
        break
      case 'pause':
      case 'taken':
        during(
          event.lasts,
          () => (this.suspended = event.what === 'pause' ? 'paused' : 'taken'),
          () => (this.suspended = undefined),
        )
        break
      case 'lose-data': {
        const etcd = host.process('etcd')
        during(
          event.lasts,
          () => ((host.dataLost = true), (etcd.state = 'ended')),
          () => (host.dataLost = false),
        )
        break
      }
      case 'agent-dies':
        host.forgetObservations()
        break
      case 'wait':
        during(
          event.lasts,
          () => undefined,
          () => undefined,
        )
    }
    this.step()
  }
}

/** Number of runs, at least 1000; `npm run test:full` sets more. */
const numRuns = Math.max(1000, Number(process.env['PROPERTY_RUNS'] ?? 0))

test.each([['default', defaultPolicy, 1] as const, ['legacy-script', legacyScriptPolicy, 10] as const])(
  'policy %s: after any events the host becomes healthy, and no component is restarted without need',
  (_name, policy, share) => {
    assert(
      property(array(hostEvent, { maxLength: 6 }), (events) => {
        const simulation = new Simulation(policy)
        // Before the first event everything is observed as healthy.
        for (let i = 0; i < 20; i++) ensure(simulation.step().steps.length === 0, 'nothing has happened yet')
        events.forEach((event) => simulation.apply(event))
        const isHealthy = (): boolean =>
          modelServiceNames.every(
            (name) => simulation.host.isHealthy(name) && !simulation.host.process(name).isCorrupted,
          )
        // Two hours, because an exhausted component is tried again every hour, and components are healed one
        // after the other.
        const maxSteps = (2 * 3_600_000) / tickMs
        for (let i = 0; i < maxSteps && !isHealthy(); i++) simulation.step()
        expect(isHealthy(), 'in the end').toBe(true)
        for (let i = 0; i < 5; i++) simulation.step()
        for (let i = 0; i < 60; i++) {
          const { steps, components } = simulation.step()
          ensure(steps.length === 0, 'a healthy host is left alone')
          ensure(
            components.every(({ state }) => state === 'healthy'),
            'all components are reported as healthy',
          )
        }
        expect(simulation.healState.escalations).toEqual({})
      }),
      { numRuns: Math.ceil(numRuns / share) },
    )
  },
)
