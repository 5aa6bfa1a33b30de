import { setImmediate as turn } from 'node:timers/promises'
import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Probe } from '../../../contract/probe.ts'
import { hostPlan, publish, running } from '../../apply/testing/fixtures.ts'
import type { Clock } from '../../host/clock.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { TemporaryHost } from '../../host/testing/temporary-host.ts'
import type { HeldClaim } from '../../operator-lock/operator-lock.ts'
import { usualBudget } from '../decision/budget.ts'
import { usual } from '../decision/escalation-policy.ts'
import type { HealStep } from '../decision/heal-step.ts'
import type { DriftSeen, Hands } from '../heal-operations.ts'
import { healOnce, type LoopScene } from '../loop.ts'
import { openMemory } from '../heal-state-store.ts'
import type { Seen } from '../probe-result.ts'
import { watchHost } from '../watch-host.ts'

const rest = { every: 5000, timeout: 5000, failures: 3 } as const

export function probeAt(name: string, scope: Probe['scope'] = 'local'): Probe {
  return { name, scope, check: { kind: 'http', url: `http://127.0.0.1/${name}` }, ...rest }
}

/** For tests: a host that runs two services, one for the other. */
export function servicesPlan(text = 'one'): NodePlan {
  return hostPlan(
    running('containerd', '1', { stage: 'node', probes: [probeAt('cri')] }),
    running('kubelet', '1', { stage: 'node', needs: ['containerd'], probes: [probeAt('healthz')], text }),
  )
}

export function publishAll(host: TemporaryHost): void {
  for (const plan of [servicesPlan(), servicesPlan('two')]) publish(host, plan)
}

/** For tests: a clock that goes on when it is told to. */
export function handClock(start: number): Clock & { pass(milliseconds: number): Promise<void> } {
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
      // Whoever was woken does what they have to do.
      for (let i = 0; i < 5; i++) await turn()
    },
  }
}

/** What the world around an agent is, and what was done to it. */
export interface World {
  readonly clock: ReturnType<typeof handClock>
  /** Components that do not answer. */
  readonly silent: Set<string>
  drift: DriftSeen
  held: HeldClaim | undefined
  busy: boolean
  readonly asked: string[]
  readonly steps: HealStep[]
  readonly told: HealAction[]
  /** Instead of what performing does otherwise. */
  perform: ((step: HealStep) => Promise<readonly HealAction[]>) | undefined
}

export function worldOf(): World {
  return {
    clock: handClock(Date.UTC(2027, 0, 1)),
    silent: new Set(),
    drift: { putBack: new Map(), beyond: new Map(), stopped: new Set() },
    held: undefined,
    busy: false,
    asked: [],
    steps: [],
    told: [],
    perform: undefined,
  }
}

function handsIn(world: World, host: LinuxHost): Hands {
  return {
    async ask({ name }, component): Promise<Seen> {
      world.asked.push(name)
      if (!world.silent.has(component.name)) return { state: 'well' }
      return { state: 'failed', seen: 'no answer', code: 'HEALTH_NO_ANSWER' }
    },
    lookAtDrift: async () => world.drift,
    dangersOf: async () => new Map(),
    async perform(_plan, step) {
      world.steps.push(step)
      if (world.perform !== undefined) return world.perform(step)
      if (step.actions.includes('restart')) {
        await host.systemd.restart(`${step.component}.service`)
        world.silent.delete(step.component)
      }
      const { component, because } = step
      const at = world.clock.now().toISOString()
      return step.actions.map((action) => ({ at, component, action, because, outcome: 'done', details: [] }))
    },
    tell: (action) => void world.told.push(action),
  }
}

/** For tests: an agent of a host; another one begins with what is on its disk. */
export async function agentIn(world: World, on: TemporaryHost) {
  const host: LinuxHost = { ...on, clock: world.clock }
  const over = new AbortController()
  const memory = await openMemory(host)
  const scene = {
    host,
    hands: handsIn(world, host),
    memory,
    ladder: usual,
    work: { restoring: async () => undefined },
    claims: {
      get held() {
        return world.held
      },
    },
    runs: {
      get busy() {
        return world.busy
      },
    },
    random: () => 1,
    say: () => undefined,
    signal: over.signal,
  }
  const watch = watchHost({ ...scene, changed: () => undefined })
  const loop: LoopScene = { ...scene, watch, budget: usualBudget, began: world.clock.now().getTime() }
  return {
    scene,
    memory,
    die: () => over.abort(),
    /** Looks so many times, five seconds apart. */
    async look(times: number): Promise<void> {
      for (let i = 0; i < times; i++) {
        await world.clock.pass(5000)
        await healOnce(loop, true)
      }
    },
  }
}
