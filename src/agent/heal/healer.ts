import type { HealAction, HealPause, HealState, HostHealth } from '../../contract/health.ts'
import type { Host } from '../host/host.ts'
import type { LockedByOtherDeps } from '../operator-lock/operator-lock.ts'
import { createWakeup, runLoop, type TickResult } from '../runs/run-loop.ts'
import type { Runs } from '../runs/runs.ts'
import { recordActions } from './decision/action-history.ts'
import { toProbeHealth } from './decision/probe-record.ts'
import type { HealStateStore } from './heal-state-store.ts'
import type { RunProbe } from './probes/probe-runner.ts'
import type { HealReconciler, RoundStep, RoundStepResult } from './reconciler.ts'
import { findActivePause, findSuspension, setPause } from './suspension.ts'
import { watchHost } from './watch-host.ts'

/** Heals the host and reports its health. */
export interface Healer {
  /** Returns the health of the host. With `fresh`, all probes run first. */
  health(fresh: boolean, signal: AbortSignal): Promise<HostHealth>
  /**
   * Pauses healing for this many milliseconds; 0 ends the pause. Returns the active pause, if there is one.
   */
  pause(milliseconds: number, by: string): Promise<HealPause | undefined>
}

export interface HostHealer extends Healer {
  /** Heals the host until the signal aborts. */
  run(): Promise<void>
  /**
   * Runs one healing round. `hasChanges` is true if the state of a probe or a pause has changed since the
   * last round.
   */
  once(hasChanges?: boolean): Promise<TickResult>
}

export interface HealerDeps extends LockedByOtherDeps {
  readonly host: Host
  readonly runs: Pick<Runs, 'busy'>
  /** Implements healing for the operating system of the host. */
  readonly reconciler: HealReconciler
  readonly runProbe: RunProbe
  readonly stateStore: HealStateStore
  /** Reports an action. The function does not wait for the delivery and never throws. */
  readonly report: (action: HealAction) => void
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/** Milliseconds between healing rounds if nothing changes. */
const healIntervalMs = 5000
/** Milliseconds until the first round, so a starting agent can first answer requests. */
const firstDelayMs = 1000
/** Maximum number of actions in a health report. */
const maxReportedActions = 50

export function createHealer(deps: HealerDeps): HostHealer {
  const { host, reconciler, stateStore, report, signal: end } = deps
  const { clock } = host
  const time = (): number => clock.now().getTime()
  const wakeup = createWakeup(clock)
  const wake = (): void => {
    if (reconciler.wakesOnChange) wakeup.wake()
  }
  const watch = watchHost({ ...deps, onChange: wake })
  // True during the healer's own run. A run in progress suspends healing, but the healer's own run must not.
  let acting = false
  const perform = async (step: RoundStep): Promise<RoundStepResult> => {
    acting = true
    return step.perform(end).finally(() => (acting = false))
  }

  const once = async (hasChanges = false): Promise<TickResult> => {
    const isNews = hasChanges || reconciler.needsUnits(stateStore.current)
    const observed = await watch.observe(isNews ? 'news' : 'usual', end)
    if (observed === undefined) return { nextMs: healIntervalMs, problems: [] }
    const problems: unknown[] = observed.driftError === undefined ? [] : [observed.driftError]
    // If the state cannot be written, healing continues with the state in memory. A full disk may be the
    // problem to heal.
    const saveState = async (next: (before: HealState) => HealState): Promise<void> =>
      stateStore.update(next).catch((error: unknown) => void problems.push(error))
    await reconciler.maintain(observed)
    const suspended = await findSuspension(deps, stateStore.current)
    const { healState, notices, steps } = reconciler.decide({
      now: time(),
      observed,
      healState: stateStore.current,
      suspended,
    })
    // The state is written before any step. Otherwise an agent that dies during a step would begin the
    // escalation again.
    await saveState(() => healState)
    for (const notice of notices) report(notice)
    for (const step of steps) {
      // Stop if an operator has claimed the host or paused healing since the decision. Another active run is
      // no reason to stop, because the step waits until that run has ended.
      if ((await findSuspension({ ...deps, runs: { busy: false } }, stateStore.current)) !== undefined) break
      const { actions, mayHaveChangedHost, updateState = (before) => before } = await perform(step)
      if (mayHaveChangedHost) watch.invalidate()
      for (const action of actions) report(action)
      await saveState((before) => updateState(recordActions(before, actions)))
    }
    return { nextMs: healIntervalMs, problems }
  }

  return {
    once,

    async run() {
      await runLoop({
        ...deps,
        tick: async () => once(wakeup.consume()),
        firstMs: firstDelayMs,
        retryMs: healIntervalMs,
        clock: { now: () => clock.now(), pause: async (ms, signal) => wakeup.pause(ms, signal) },
        signal: end,
      })
    },

    async health(fresh, signal): Promise<HostHealth> {
      const observed = await watch.observe(fresh ? 'fresh' : 'usual', signal)
      const suspended = acting ? undefined : await findSuspension(deps, stateStore.current)
      const now = time()
      const healState = stateStore.current
      const paused = findActivePause(healState, now)
      const observedComponents = observed?.components ?? []
      const { components, budget } = reconciler.assess({
        now,
        components: observedComponents,
        healState,
        suspended,
      })
      return {
        at: new Date(now).toISOString(),
        ...(observed === undefined ? {} : { plan: observed.digest }),
        healPolicy: reconciler.policy,
        ...(paused === undefined ? {} : { paused }),
        ...(suspended === undefined || paused !== undefined ? {} : { suspended: suspended.because }),
        budget,
        components: [...components],
        probes: (observed?.probes ?? []).map(toProbeHealth),
        actions: healState.actions.slice(0, maxReportedActions),
      }
    },

    async pause(milliseconds, by) {
      const paused = await setPause(stateStore, milliseconds, by, time())
      wake()
      return paused
    },
  }
}
