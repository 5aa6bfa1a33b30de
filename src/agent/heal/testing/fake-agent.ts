import { setImmediate as turn } from 'node:timers/promises'
import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Probe } from '../../../contract/probe.ts'
import { buildPlanWithHost, publishPrograms, runningComponent } from '../../apply/testing/fixtures.ts'
import type { Clock } from '../../host/clock.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { TemporaryHost } from '../../host/testing/temporary-host.ts'
import type { HeldOperatorLock } from '../../operator-lock/operator-lock.ts'
import type { HealStep } from '../decision/decision-input.ts'
import { defaultPolicy } from '../decision/escalation-policy.ts'
import { openHealState } from '../heal-state-store.ts'
import { createHealer } from '../healer.ts'
import { createLinuxReconciler, type LinuxHealOperations } from '../linux/linux-reconciler.ts'
import type { ProbeResult } from '../probes/probe-runner.ts'
import type { DriftObservation } from '../reconciler.ts'

const probeSettings = { intervalMs: 5000, timeoutMs: 5000, failureThreshold: 3 } as const

export function probeAt(name: string, scope: Probe['scope'] = 'local'): Probe {
  return { name, scope, check: { kind: 'http', url: `http://127.0.0.1/${name}` }, ...probeSettings }
}

/** For tests: a plan with two services, one of which needs the other. */
export function servicesPlan(text = 'one'): NodePlan {
  return buildPlanWithHost(
    runningComponent('containerd', '1', { stage: 'node', probes: [probeAt('cri')] }),
    runningComponent('kubelet', '1', {
      stage: 'node',
      needs: ['containerd'],
      probes: [probeAt('healthz')],
      text,
    }),
  )
}

export function publishServicesPlans(host: TemporaryHost): void {
  for (const plan of [servicesPlan(), servicesPlan('two')]) publishPrograms(host, plan)
}

/** For tests: a clock that advances only when the test calls `pass`. */
export function manualClock(start: number): Clock & { pass(milliseconds: number): Promise<void> } {
  let now = start
  let waiting: { readonly at: number; readonly wake: () => void }[] = []
  return {
    now: () => new Date(now),
    async pause(milliseconds, signal) {
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waiting.push({ at: now + milliseconds, wake: resolve })
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      await promise
    },
    async pass(milliseconds) {
      now += milliseconds
      const due = waiting.filter(({ at }) => at <= now)
      waiting = waiting.filter((one) => !due.includes(one))
      for (const { wake } of due) wake()
      // Lets other tasks run, so that the woken tasks can continue.
      for (let i = 0; i < 5; i++) await turn()
    },
  }
}

/** State of a fake host, and a record of what was done to it. */
export interface FakeEnvironment {
  readonly clock: ReturnType<typeof manualClock>
  /** Names of components that do not respond. */
  readonly unresponsive: Set<string>
  /** True if unresponsive processes are stopped (state T); false if they are busy. */
  isFrozen: boolean
  drift: DriftObservation
  /** Error of drift checks; undefined if they succeed. */
  driftError: Error | undefined
  claim: HeldOperatorLock | undefined
  busy: boolean
  readonly probed: string[]
  readonly steps: HealStep[]
  readonly reported: HealAction[]
  /** Replaces the default behaviour of `perform`. */
  perform: ((step: HealStep) => Promise<readonly HealAction[]>) | undefined
}

export function createFakeEnvironment(): FakeEnvironment {
  return {
    clock: manualClock(Date.UTC(2027, 0, 1)),
    unresponsive: new Set(),
    isFrozen: false,
    drift: { repairable: new Map(), unrepairable: new Map(), stopped: new Set() },
    driftError: undefined,
    claim: undefined,
    busy: false,
    probed: [],
    steps: [],
    reported: [],
    perform: undefined,
  }
}

function createFakeOperations(environment: FakeEnvironment, host: LinuxHost): LinuxHealOperations {
  return {
    async detectDrift() {
      if (environment.driftError !== undefined) throw environment.driftError
      return environment.drift
    },
    findDataRisks: async () => new Map(),
    async perform(_plan, step) {
      environment.steps.push(step)
      if (environment.perform !== undefined) return environment.perform(step)
      if (step.actions.includes('restart')) {
        await host.services.restart(`${step.component}.service`)
        environment.unresponsive.delete(step.component)
      }
      const { component, because } = step
      const at = environment.clock.now().toISOString()
      return step.actions.map((action) => ({ at, component, action, because, outcome: 'done', details: [] }))
    },
  }
}

/**
 * For tests: starts an agent of a host. A second agent on the same host starts with the state on the host's
 * disk.
 */
export async function startFakeAgent(environment: FakeEnvironment, temporary: TemporaryHost) {
  const host: LinuxHost = { ...temporary, clock: environment.clock }
  const stop = new AbortController()
  const store = await openHealState(host)
  const healerDeps = {
    host,
    reconciler: createLinuxReconciler({
      host,
      operations: createFakeOperations(environment, host),
      policy: defaultPolicy,
    }),
    async runProbe({ name }: Probe, component: ComponentPlan): Promise<ProbeResult> {
      environment.probed.push(name)
      if (!environment.unresponsive.has(component.name)) return { state: 'healthy' }
      const { isFrozen } = environment
      return { state: 'unhealthy', message: 'no answer', code: 'HEALTH_NO_RESPONSE', isConfirmed: isFrozen }
    },
    report: (action: HealAction) => void environment.reported.push(action),
    stateStore: store,
    work: { activeRestore: async () => undefined },
    claims: {
      get held() {
        return environment.claim
      },
    },
    runs: {
      get busy() {
        return environment.busy
      },
    },
    random: () => 1,
    log: () => undefined,
    signal: stop.signal,
  }
  const healer = createHealer(healerDeps)
  return {
    deps: healerDeps,
    stateStore: store,
    die: () => stop.abort(),
    /** Runs this many healing rounds, five seconds apart. */
    async heal(times: number): Promise<void> {
      for (let i = 0; i < times; i++) {
        await environment.clock.pass(5000)
        await healer.once(true)
      }
    },
  }
}
