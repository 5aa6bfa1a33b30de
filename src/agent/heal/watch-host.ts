import { type Host, servicesOf } from '../host/host.ts'
import { type ComponentSeen, localProbes } from './decision/component-observation.ts'
import { isWellInThisLife } from './decision/component-condition.ts'
import type { Counted } from './decision/probe-record.ts'
import type { Hands } from './heal-operations.ts'
import { seeComponents } from './see.ts'
import { type WatchedPlan, watchPlan } from './watch-plan.ts'
import { watchProbes } from './watch-probes.ts'
import { watchThings } from './watch-drift.ts'
import { watchUnits } from './watch-units.ts'

export interface WatchScene {
  readonly host: Host
  readonly hands: Pick<Hands, 'ask' | 'lookAtDrift' | 'dangersOf'>
  readonly random: () => number
  /** A probe is in another state than before. */
  readonly changed: () => void
  readonly signal: AbortSignal
}

export interface HostSeen extends WatchedPlan {
  readonly components: readonly ComponentSeen[]
  readonly probes: readonly Counted[]
}

/** All that is known of a host, and no older than it has to be. */
export interface HostWatch {
  /**
   * With `news` the supervisor is asked again; with `fresh` so is everybody else. Undefined as long as nobody has taken
   * the host through a plan.
   */
  look(how: 'usual' | 'news' | 'fresh', signal: AbortSignal): Promise<HostSeen | undefined>
  /** Something was done: what lies on the disk is not what it was. */
  forget(): void
}

export function watchHost({ host, hands, random, changed, signal: end }: WatchScene): HostWatch {
  const { clock } = host
  const probes = watchProbes({ ask: hands.ask, clock, random, changed })
  const [plans, units, things] = [
    watchPlan(host),
    watchUnits(servicesOf(host), clock),
    watchThings(hands, clock),
  ]
  let followed: string | undefined

  const follow = async (): Promise<WatchedPlan | undefined> => {
    const watched = await plans()
    if (watched?.digest !== followed) probes.follow(watched?.plan, end)
    followed = watched?.digest
    return watched
  }

  return {
    async look(how, signal) {
      const watched = await follow()
      if (watched === undefined) return undefined
      const { plan } = watched
      const asked = how === 'fresh' ? await probes.fresh(signal) : undefined
      const see = (): ComponentSeen[] =>
        seeComponents(plan.components, asked ?? probes.now, units.now, things.now)
      await units.look(plan, how !== 'usual' ? 'news' : isTroubled(see()) ? 'troubled' : 'calm')
      await things.look(plan, how === 'fresh' || isTroubled(see()) ? 'troubled' : 'calm')
      for (const one of see()) if (isWellInThisLife(one)) units.wasWell(one.component)
      return { ...watched, components: see(), probes: asked ?? probes.now }
    },
    forget: () => things.forget(),
  }
}

/** Whether it is worth looking closer. */
function isTroubled(components: readonly ComponentSeen[]): boolean {
  return components.some(
    (one) =>
      localProbes(one).some(({ state }) => state === 'shaky' || state === 'failing') ||
      (one.unit !== undefined && one.unit.state.active !== 'active'),
  )
}
