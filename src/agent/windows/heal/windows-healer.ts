import { describe } from '../../../kit/errors.ts'
import { printable } from '../../../kit/printable.ts'
import type { ComponentHealth, HealAction, HostHealth } from '../../../contract/health.ts'
import { type ComponentSeen } from '../../heal/decision/component-observation.ts'
import { conditionOf } from '../../heal/decision/component-condition.ts'
import { usualBudget } from '../../heal/decision/budget.ts'
import { toldOf } from '../../heal/decision/probe-record.ts'
import { elapsed } from '../../heal/decision/elapsed.ts'
import { remembered } from '../../heal/decision/action-history.ts'
import { type DriftFound, lookAtDrift } from '../../heal/drift/detect-drift.ts'
import { withKnownDigests } from '../../heal/drift/known-digests.ts'
import type { HostHealer } from '../../heal/host-healer.ts'
import { idleNow, pauseFor, pauseNow } from '../../heal/suspension.ts'
import { looksEvery } from '../../heal/loop.ts'
import type { KeptMemory } from '../../heal/heal-state-store.ts'
import type { AskProbe } from '../../heal/probe-result.ts'
import { type HostSeen, watchHost } from '../../heal/watch-host.ts'
import { type Look, rounds } from '../../loop/run-loop.ts'
import { allRoles, type Role } from '../reconcile/worker-spec.ts'
import { type Found, keepOnce, type KeepScene } from './heal-once.ts'
import { logRotation } from './rotate-logs.ts'
import { type RestartWatch, watchRestarts } from './watch-restarts.ts'

export interface WindowsHealScene extends KeepScene {
  readonly ask: AskProbe
  readonly memory: KeptMemory
  /** Tells whoever wants to know: never waits, never fails. */
  readonly tell: (action: HealAction) => void
  readonly random: () => number
  readonly say: (text: string) => void
}

/** How many of the actions that are remembered are told. */
const told = 50
/** Until the first look, in milliseconds. */
const first = 1000

/** Looks after a Windows host by the rounds in which its services and networks come up. */
export function windowsHealer(scene: WindowsHealScene): HostHealer & { once(): Promise<Look> } {
  const { host, memory, pace, tell, signal: end } = scene
  const { clock } = host
  const time = (): number => clock.now().getTime()
  const known = withKnownDigests(host)
  let drift: DriftFound | undefined
  const watch = watchHost({
    host,
    hands: {
      ask: scene.ask,
      async lookAtDrift(plan) {
        drift = await lookAtDrift(known, plan)
        return drift
      },
      dangersOf: async () => new Map(),
    },
    random: scene.random,
    changed: () => undefined,
    signal: end,
  })
  const restarts = watchRestarts(host)
  const rotateLogs = logRotation(host)
  // What we do ourselves is no reason to do nothing.
  let acting = false
  let waits: string | undefined

  /** What only helps to know keeps nobody from healing. */
  const aside = async (work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => scene.say(printable(describe(error))))

  const once = async (): Promise<Look> => {
    // While something is being mended, nobody waits for what the supervisor says.
    const seen = await watch.look(unfinished(memory.now.actions).size > 0 ? 'news' : 'usual', end)
    if (seen !== undefined) {
      await aside(async () => restarts.look(seen.plan, seen.components))
      await aside(async () => rotateLogs(seen.plan))
    }
    const idle = await idleNow(scene, memory.now)
    if (seen === undefined || idle !== undefined) return { next: looksEvery, troubles: [] }
    acting = true
    try {
      const kept = await keepOnce(scene, foundIn(seen, drift, time()))
      waits = kept.waits
      if (kept.actions.length > 0) watch.forget()
      const words = [...kept.actions, ...recoveredIn(kept.actions, seen)]
      await memory.change((before) => remembered(before, words))
      for (const action of words) tell(action)
    } finally {
      acting = false
    }
    return { next: looksEvery, troubles: [] }
  }

  /** What was done to a component has to have an end. */
  const recoveredIn = (actions: readonly HealAction[], { components }: HostSeen): HealAction[] => {
    if (actions.length > 0 || waits !== undefined) return []
    const open = unfinished(memory.now.actions)
    return components.flatMap((one): HealAction[] => {
      const { component } = one
      // It may have all that it needs and not say so yet.
      if (!open.has(component) || isDown(one) || conditionOf(one, time()).state === 'unwell') return []
      const at = clock.now().toISOString()
      const because = 'all of it is as planned, and nothing is waited for'
      return [{ at, component, action: 'recovered', because, outcome: 'done', details: [] }]
    })
  }

  return {
    once,
    async keep() {
      await rounds({ ...scene, look: once, first, usual: looksEvery, clock, signal: end })
    },
    async health(fresh, signal): Promise<HostHealth> {
      const seen = await watch.look(fresh ? 'fresh' : 'usual', signal)
      const idle = acting ? undefined : await idleNow(scene, memory.now)
      const now = time()
      const paused = pauseNow(memory.now, now)
      const { most, within } = usualBudget
      const lately = memory.now.actions.filter(
        ({ at, action }) => action === 'restart' && elapsed(at, now) < within,
      )
      return {
        at: new Date(now).toISOString(),
        ...(seen === undefined ? {} : { plan: seen.digest }),
        ladder: pace.name,
        ...(paused === undefined ? {} : { paused }),
        ...(idle === undefined || paused !== undefined ? {} : { idle: idle.because }),
        budget: { spent: lately.length, most, within },
        components: (seen?.components ?? []).map((one) =>
          healthOf(one, memory.now.actions, restarts, waits, now),
        ),
        probes: (seen?.probes ?? []).map(toldOf),
        actions: memory.now.actions.slice(0, told),
      }
    },
    pause: async (milliseconds, by) => pauseFor(memory, milliseconds, by, time()),
  }
}

/** Components to which something was done since they were well. */
function unfinished(actions: readonly HealAction[]): ReadonlySet<string> {
  const last = new Map(actions.toReversed().map(({ component, action }) => [component, action]))
  return new Set([...last].flatMap(([component, action]) => (action === 'recovered' ? [] : [component])))
}

function isDown({ unit }: Pick<ComponentSeen, 'unit'>): boolean {
  return unit !== undefined && unit.state.active !== 'active'
}

/** What a look means for a round. */
function foundIn({ plan, components }: HostSeen, drift: DriftFound | undefined, now: number): Found {
  const unwell = components.filter((one) => conditionOf(one, now).state === 'unwell')
  return {
    plan,
    // Services and rules are seen to by the round itself.
    drift: [...(drift?.putBack.values() ?? [])].flat().filter(({ target }) => target !== 'service'),
    unwell: new Set(unwell.flatMap(({ component }) => roleOf(component))),
    stopped: new Set(components.filter(({ stopped }) => stopped === true).map(({ component }) => component)),
  }
}

function roleOf(component: string): Role[] {
  return allRoles.filter((role) => role === component)
}

function healthOf(
  seen: ComponentSeen,
  actions: readonly HealAction[],
  restarts: Pick<RestartWatch, 'of'>,
  waits: string | undefined,
  now: number,
): ComponentHealth {
  const { component, unit, beyond } = seen
  const condition = conditionOf(seen, now)
  const last = actions.find((one) => one.component === component)
  const isBusy = last !== undefined && last.action !== 'recovered'
  const during = last?.action === 'give-up' ? 'given-up' : isBusy ? 'healing' : 'unwell'
  const because = condition.state === 'unwell' ? condition.because : waits
  const state = condition.state === 'unwell' || isDown(seen) ? during : 'well'
  const code = state === 'given-up' ? last?.code : condition.state === 'unwell' ? condition.code : undefined
  return {
    component,
    state: seen.stopped === true ? 'held' : state,
    since: new Date(unit?.changed ?? now).toISOString(),
    ...(state === 'well' || because === undefined ? {} : { because }),
    ...(code === undefined ? {} : { code }),
    ...(unit === undefined
      ? {}
      : {
          service: {
            name: unit.name,
            active: unit.state.active,
            sub: unit.state.sub,
            restarts: restarts.of(unit.name),
            enabled: unit.state.enabled,
          },
        }),
    drift: [...beyond],
  }
}
