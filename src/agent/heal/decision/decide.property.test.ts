import { array, assert, constant, constantFrom, nat, oneof, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { HealMemory } from '../../../contract/heal-state.ts'
import type { HealAction } from '../../../contract/health.ts'
import { usualBudget } from './budget.ts'
import { type Decision, decide } from './decide.ts'
import { type Ladder, seed, usual } from './escalation-policy.ts'
import { type HealStep, isDisturbing } from './heal-step.ts'
import { ModelHost, names, nothingRemembered, type Service, services, tick } from './testing/model-host.ts'
import { remembered } from './action-history.ts'

const service = constantFrom(...names)
/** For how many looks it lasts. */
const lasts = nat(120)

/** What can happen to a host, one after the other. */
const happening = oneof(
  record({ what: constantFrom('kill' as const, 'hang' as const, 'stop' as const), service }),
  /** Its files are spoilt, now or also so that it notices. */
  record({ what: constantFrom('spoil' as const, 'spoil-and-kill' as const), service }),
  record({ what: constant('curse' as const), service, lasts: nat(400) }),
  record({
    what: constantFrom('no-quorum' as const, 'no-api' as const, 'pause' as const, 'taken' as const),
    lasts,
  }),
  record({ what: constant('lose-data' as const), lasts: nat(30) }),
  record({ what: constant('agent-dies' as const) }),
  record({ what: constant('wait' as const), lasts: nat(60) }),
)
type Happening = typeof happening extends { generate(...args: never[]): { value: infer T } } ? T : never

/** Said in place of `expect`, which takes longer than all that it looks at here. */
function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(what)
}

function needsOf(name: Service): Service[] {
  return services[name].flatMap((need) => [need, ...needsOf(need)])
}

/** A host, the agent that looks after it, and whoever makes sure that it keeps its promises. */
class Scene {
  readonly host = new ModelHost()
  readonly ladder: Ladder
  memory: HealMemory = nothingRemembered
  idle: 'paused' | 'taken' | undefined
  readonly restarts: number[] = []
  readonly said: HealAction[] = []

  constructor(ladder: Ladder) {
    this.ladder = ladder
  }

  /** What a look comes to; also how many things were done. */
  look(): Decision {
    const { host, ladder, memory, idle } = this
    host.pass()
    const components = host.look()
    const decision = decide({
      now: host.now,
      began: 0,
      components,
      memory,
      ladder,
      budget: usualBudget,
      idle: idle === undefined ? undefined : { because: idle },
    })
    this.memory = decision.memory
    this.said.push(...decision.words)
    must(idle === undefined || decision.steps.length === 0, 'somebody else is at work')
    decision.steps.forEach((step, index) => this.#perform(step, decision.steps[index + 1]))
    return decision
  }

  #perform(step: HealStep, next: HealStep | undefined): void {
    const { host } = this
    const name = names.find((one) => one === step.component)
    if (name === undefined) throw new Error(`nobody may touch ${step.component}`)
    must(name !== 'etcd' || !host.dataLost, 'what risks data is refused')
    if (isDisturbing(step)) {
      // The seed restarts the proxy on the way, whether it is well or not.
      const byTheBook = this.ladder === seed && name === 'apiserver-proxy' && next?.because !== undefined
      if (!byTheBook) this.#mayRestart(name)
      this.restarts.push(host.now)
      const lately = this.restarts.filter((at) => host.now - at < usualBudget.within)
      must(lately.length <= usualBudget.most, 'the budget')
    }
    host.perform(step)
    const at = new Date(host.now).toISOString()
    const { component, because } = step
    const done = step.actions.map(
      (action) => ({ at, component, action, because, outcome: 'done', details: [] }) as const,
    )
    this.memory = remembered(
      this.memory,
      done.map((one) => ({ ...one, details: [] })),
    )
  }

  #mayRestart(name: Service): void {
    const { host, ladder } = this
    must(!host.isWell(name), `${name} is well`)
    const { state } = host.of(name)
    // To the letter, the seed does not wait for what was just started.
    if (ladder.own.has(name)) return
    must(state === 'hangs' || state === 'stopped', `${name} is not to blame: it ${state}`)
    for (const need of needsOf(name)) must(host.isWell(need), `${need} comes before ${name}`)
  }

  happen(event: Happening): void {
    const { host } = this
    const during = (count: number, begin: () => void, end: () => void): void => {
      begin()
      for (let i = 0; i < count; i++) this.look()
      end()
    }
    switch (event.what) {
      case 'kill':
        host.of(event.service).state = 'ended'
        break
      case 'hang':
        host.of(event.service).state = 'hangs'
        break
      case 'stop':
        host.of(event.service).state = 'stopped'
        break
      case 'spoil':
        host.of(event.service).spoilt = true
        break
      case 'spoil-and-kill':
        host.of(event.service).spoilt = true
        host.of(event.service).state = 'ended'
        break
      case 'curse':
        during(
          event.lasts,
          () => (host.of(event.service).cursed = true),
          () => (host.of(event.service).cursed = false),
        )
        break
      case 'no-quorum':
        during(
          event.lasts,
          () => (host.quorum = false),
          () => (host.quorum = true),
        )
        break
      case 'no-api':
        during(
          event.lasts,
          () => (host.api = false),
          () => (host.api = true),
        )
        break
      case 'pause':
      case 'taken':
        during(
          event.lasts,
          () => (this.idle = event.what === 'pause' ? 'paused' : 'taken'),
          () => (this.idle = undefined),
        )
        break
      case 'lose-data': {
        const etcd = host.of('etcd')
        during(
          event.lasts,
          () => ((host.dataLost = true), (etcd.state = 'ended')),
          () => (host.dataLost = false),
        )
        break
      }
      case 'agent-dies':
        host.forgetSeen()
        break
      case 'wait':
        during(
          event.lasts,
          () => undefined,
          () => undefined,
        )
    }
    this.look()
  }
}

/** At every change, and by `npm run test:full` as many as it asks for. */
const numRuns = Math.max(1000, Number(process.env['PROPERTY_RUNS'] ?? 0))

test.each([['usual', usual, 1] as const, ['seed', seed, 10] as const])(
  'by the %s ladder: whatever happens, it is well once that stops; nobody was restarted without need',
  (_name, ladder, share) => {
    assert(
      property(array(happening, { maxLength: 6 }), (course) => {
        const scene = new Scene(ladder)
        // All is known to be well before.
        for (let i = 0; i < 20; i++) must(scene.look().steps.length === 0, 'nothing has happened yet')
        course.forEach((event) => scene.happen(event))
        const isWell = (): boolean =>
          names.every((name) => scene.host.isWell(name) && !scene.host.of(name).spoilt)
        // Who was given up gets another chance within the hour, one after the other.
        const patience = (2 * 3_600_000) / tick
        for (let i = 0; i < patience && !isWell(); i++) scene.look()
        expect(isWell(), 'in the end').toBe(true)
        for (let i = 0; i < 5; i++) scene.look()
        for (let i = 0; i < 60; i++) {
          const { steps, components } = scene.look()
          must(steps.length === 0, 'a healthy host is left alone')
          must(
            components.every(({ state }) => state === 'well'),
            'it is known to be well',
          )
        }
        expect(scene.memory.climbs).toEqual({})
      }),
      { numRuns: Math.ceil(numRuns / share) },
    )
  },
)
