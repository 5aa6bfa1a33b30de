import { isDeepStrictEqual } from 'node:util'
import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Probe } from '../../contract/probe.ts'
import { createSemaphore } from '../../kit/concurrency.ts'
import { formatError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import type { Clock } from '../host/clock.ts'
import { withJitter } from '../runs/run-loop.ts'
import { createProbeRecord, type ProbeRecord, recordProbeResult } from './decision/probe-record.ts'
import type { ProbeResult, RunProbe } from './probes/probe-runner.ts'

/**
 * Maximum number of probes that run at the same time. With more, probes would measure the load that they
 * cause.
 */
const maxConcurrent = 8
/**
 * Maximum intervals in milliseconds of probes that have failed. A degraded probe has not failed often enough
 * to be unhealthy. An unhealthy probe runs often, so that a recovery is noticed at once.
 */
const maxIntervalsMs: Partial<Record<ProbeRecord['state'], number>> = { degraded: 5000, unhealthy: 2000 }
/** Milliseconds over which the first runs of all probes are spread. */
const initialSpreadMs = 3000

export interface WatchProbesDeps {
  readonly runProbe: RunProbe
  readonly clock: Clock
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  /** Called when the state of a probe has changed. */
  readonly onChange: () => void
}

/** Runs the probes of a plan, each at its own interval. */
export interface ProbeWatch {
  /** Runs the probes of this plan until the signal aborts. Records of unchanged probes are kept. */
  follow(plan: NodePlan | undefined, signal: AbortSignal): void
  readonly current: readonly ProbeRecord[]
  /**
   * Runs all probes now. The results are not recorded, so frequent calls cannot make a probe count as
   * failing.
   */
  runAll(signal: AbortSignal): Promise<readonly ProbeRecord[]>
}

interface WatchedProbe {
  readonly component: ComponentPlan
  readonly probe: Probe
  record: ProbeRecord
}

export function watchProbes({ runProbe, clock, random, onChange }: WatchProbesDeps): ProbeWatch {
  let watched: readonly WatchedProbe[] = []
  let stop = new AbortController()
  const limit = createSemaphore(maxConcurrent)
  const time = (): number => clock.now().getTime()

  const runSafely = async ({ probe, component }: WatchedProbe, signal: AbortSignal): Promise<ProbeResult> =>
    limit(async () => {
      signal.throwIfAborted()
      return runProbe(probe, component, signal)
    }).catch((error: unknown): ProbeResult => {
      signal.throwIfAborted()
      return { state: 'unknown', message: toPrintable(formatError(error)) }
    })

  const watch = async (one: WatchedProbe, signal: AbortSignal): Promise<void> => {
    const { probe } = one
    let pause = random() * Math.min(probe.intervalMs, initialSpreadMs)
    for (;;) {
      await clock.pause(pause, signal)
      const result = await runSafely(one, signal)
      signal.throwIfAborted()
      const { state } = one.record
      one.record = recordProbeResult(one.record, probe, result, time())
      if (one.record.state !== state) onChange()
      const maxMs = maxIntervalsMs[one.record.state] ?? probe.intervalMs
      pause = withJitter(Math.min(probe.intervalMs, maxMs), random())
    }
  }

  return {
    follow(plan, signal) {
      stop.abort()
      stop = new AbortController()
      const until = AbortSignal.any([stop.signal, signal])
      const before = watched
      watched = (plan?.components ?? []).flatMap((component) =>
        component.probes.map((probe) => {
          const known = before.find(
            (one) => one.component.name === component.name && isDeepStrictEqual(one.probe, probe),
          )
          return {
            component,
            probe,
            record: known?.record ?? createProbeRecord(component.name, probe, time()),
          }
        }),
      )
      // `watch` rejects only when the signal aborts, so its error is ignored.
      for (const one of watched) watch(one, until).catch(() => undefined)
    },
    get current() {
      return watched.map((one) => one.record)
    },
    async runAll(signal) {
      return Promise.all(
        watched.map(async (one) =>
          recordProbeResult(one.record, one.probe, await runSafely(one, signal), time()),
        ),
      )
    },
  }
}
