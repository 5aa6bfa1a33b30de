import { isDeepStrictEqual } from 'node:util'
import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Probe } from '../../contract/probe.ts'
import { atOnce } from '../../kit/semaphore.ts'
import { describe } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Clock } from '../host/clock.ts'
import { varied } from '../loop/run-loop.ts'
import { type Counted, counted, neverAsked } from './decision/probe-record.ts'
import type { AskProbe, Seen } from './probe-result.ts'

/** No more probes than these are asked at once: whoever asks many at a time measures themselves. */
const most = 8
/** What has failed is asked again sooner than others, in milliseconds. */
const again = 5000
/** All are asked for the first time within this time, in milliseconds. */
const within = 3000

export interface ProbesScene {
  readonly ask: AskProbe
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  /** A probe is in another state than before. */
  readonly changed: () => void
}

/** The probes of a plan, each asked in its own rhythm. */
export interface ProbeWatch {
  /** From now on those of this plan, until the signal says otherwise. What is known of those that stay is kept. */
  follow(plan: NodePlan | undefined, signal: AbortSignal): void
  readonly now: readonly Counted[]
  /** Asks each of them now. That does not count, so that nobody makes a probe fail by asking often. */
  fresh(signal: AbortSignal): Promise<readonly Counted[]>
}

interface Watched {
  readonly component: ComponentPlan
  readonly probe: Probe
  counted: Counted
}

export function watchProbes({ ask, clock, random, changed }: ProbesScene): ProbeWatch {
  let watched: readonly Watched[] = []
  let over = new AbortController()
  const gate = atOnce(most)
  const time = (): number => clock.now().getTime()

  const answerOf = async ({ probe, component }: Watched, signal: AbortSignal): Promise<Seen> =>
    gate(async () => {
      signal.throwIfAborted()
      return ask(probe, component, signal)
    }).catch((error: unknown): Seen => {
      signal.throwIfAborted()
      return { state: 'unknown', seen: printable(describe(error)) }
    })

  const watch = async (one: Watched, signal: AbortSignal): Promise<void> => {
    const { probe } = one
    let pause = random() * Math.min(probe.every, within)
    for (;;) {
      await clock.pause(pause, signal)
      const answer = await answerOf(one, signal)
      signal.throwIfAborted()
      const { state } = one.counted
      one.counted = counted(one.counted, probe, answer, time())
      if (one.counted.state !== state) changed()
      pause = varied(one.counted.state === 'shaky' ? Math.min(probe.every, again) : probe.every, random())
    }
  }

  return {
    follow(plan, signal) {
      over.abort()
      over = new AbortController()
      const until = AbortSignal.any([over.signal, signal])
      const before = watched
      watched = (plan?.components ?? []).flatMap((component) =>
        component.probes.map((probe) => {
          const known = before.find(
            (one) => one.component.name === component.name && isDeepStrictEqual(one.probe, probe),
          )
          return { component, probe, counted: known?.counted ?? neverAsked(component.name, probe, time()) }
        }),
      )
      // Nothing else ends it than the signal.
      for (const one of watched) watch(one, until).catch(() => undefined)
    },
    get now() {
      return watched.map((one) => one.counted)
    },
    async fresh(signal) {
      return Promise.all(
        watched.map(async (one) => counted(one.counted, one.probe, await answerOf(one, signal), time())),
      )
    },
  }
}
