import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { healStateFormat } from '../../contract/health.ts'
import { pollUntil } from '../../kit/poll.ts'
import { readState, statePath } from '../records/state-file.ts'
import { applyAndListOps } from '../apply/testing/fixtures.ts'
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { createHealer } from './healer.ts'
import {
  createFakeEnvironment,
  publishServicesPlans,
  servicesPlan,
  startFakeAgent,
} from './testing/fake-agent.ts'

async function healthyHost(): Promise<TemporaryHost & AsyncDisposable> {
  const host = await createTemporaryHost()
  publishServicesPlans(host)
  await applyAndListOps(host, servicesPlan())
  return host
}

/**
 * Number of healing rounds until the grace period after the start is over, and until a failure is noticed.
 */
const [settledAfter, noticedAfter] = [15, 5]

test('an unresponsive component is restarted once and reported as recovered; a healthy one is left alone', async () => {
  await using host = await healthyHost()
  const environment = createFakeEnvironment()
  const agent = await startFakeAgent(environment, host)
  await agent.heal(settledAfter)
  expect([environment.steps, environment.reported]).toEqual([[], []])
  environment.unresponsive.add('kubelet')
  await agent.heal(noticedAfter)
  expect(environment.steps).toMatchObject([
    { component: 'kubelet', actions: ['restart'], code: 'HEALTH_NO_RESPONSE' },
  ])
  await agent.heal(settledAfter)
  expect(environment.steps).toHaveLength(1)
  expect(environment.reported.map(({ action }) => action)).toEqual(['restart', 'recovered'])
  expect(agent.stateStore.current.escalations).toEqual({})
})

test('a step is stored before it is performed: an agent that dies during it does not restart the escalation', async () => {
  await using host = await healthyHost()
  const environment = createFakeEnvironment()
  environment.isFrozen = true
  const agent = await startFakeAgent(environment, host)
  await agent.heal(settledAfter)
  environment.unresponsive.add('kubelet')
  const written: unknown[] = []
  environment.perform = async () => {
    const state = await readState(host, 'heal.json', healStateFormat)
    written.push(state?.escalations['kubelet']?.step, state?.disruptions.length)
    agent.die()
    throw new Error('gone')
  }
  await expect(agent.heal(noticedAfter)).rejects.toThrow('aborted')
  expect(written).toEqual([1, 1])
  environment.perform = undefined
  const next = await startFakeAgent(environment, host)
  await next.heal(settledAfter + noticedAfter)
  expect(environment.steps.map(({ actions }) => actions)).toEqual([['restart'], ['regenerate', 'restart']])
})

test('an unreadable heal state is treated as empty', async () => {
  await using host = await healthyHost()
  const environment = createFakeEnvironment()
  environment.isFrozen = true
  await host.files.write(statePath(host, 'heal.json'), Buffer.from('{"kind'), { uid: 0, gid: 0, mode: 0o600 })
  environment.unresponsive.add('containerd')
  const agent = await startFakeAgent(environment, host)
  await agent.heal(settledAfter)
  expect(environment.steps).toMatchObject([{ component: 'containerd', actions: ['restart'] }])
})

test('a heal state that could not be written is written by the next round', async () => {
  await using host = await healthyHost()
  const environment = createFakeEnvironment()
  const agent = await startFakeAgent(environment, host)
  const healer = createHealer(agent.deps)
  await healer.once()
  const path = host.toLocalPath(statePath(host, 'heal.json'))
  await rm(path)
  // A directory at the path makes the write fail.
  await mkdir(join(path, 'x'), { recursive: true })
  await expect(healer.pause(60_000, 'ana')).rejects.toThrow('directory')
  await rm(path, { recursive: true })
  await healer.once()
  expect(await readState(host, 'heal.json', healStateFormat)).toMatchObject({ paused: { by: 'ana' } })
})

test('nothing is healed while an operator holds the lock, a run is active or healing is paused', async () => {
  await using host = await healthyHost()
  const environment = createFakeEnvironment()
  environment.isFrozen = true
  const agent = await startFakeAgent(environment, host)
  await agent.heal(settledAfter)
  environment.unresponsive.add('kubelet')
  environment.claim = {
    holder: 'ana',
    generation: 1,
    released: false,
    get lastHeartbeat() {
      return environment.clock.now().getTime()
    },
  }
  await agent.heal(noticedAfter)
  environment.claim = undefined
  environment.busy = true
  await agent.heal(noticedAfter)
  environment.busy = false
  const healer = createHealer(agent.deps)
  const paused = { until: new Date(environment.clock.now().getTime() + 60_000).toISOString(), by: 'ana' }
  expect(await healer.pause(60_000, 'ana')).toEqual(paused)
  agent.die()
  const next = await startFakeAgent(environment, host)
  await next.heal(11)
  expect(environment.steps).toEqual([])
  await next.heal(noticedAfter)
  expect(environment.steps).toHaveLength(1)
  expect(await createHealer(next.deps).pause(0, 'ana')).toBeUndefined()
})

test('a failed repair is recorded and not retried at once', async () => {
  await using host = await healthyHost()
  const environment = createFakeEnvironment()
  environment.perform = async () => Promise.reject(new Error('no way'))
  environment.drift = { ...environment.drift, repairable: new Map([['kubelet', [{ name: '/etc/kubelet' }]]]) }
  const agent = await startFakeAgent(environment, host)
  await agent.heal(12)
  expect(environment.steps).toMatchObject([{ component: 'kubelet', actions: ['repair'] }])
  expect(agent.stateStore.current.actions).toMatchObject([
    { action: 'repair', outcome: 'failed', details: ['no way'] },
  ])
})

test('a failed drift check is reported, and healing continues without repairs', async () => {
  await using host = await healthyHost()
  const environment = createFakeEnvironment()
  environment.drift = { ...environment.drift, stopped: new Set(['kubelet']) }
  const agent = await startFakeAgent(environment, host)
  await agent.heal(settledAfter)
  environment.drift = { ...environment.drift, repairable: new Map([['kubelet', [{ name: '/etc/kubelet' }]]]) }
  environment.driftError = new Error('EIO: i/o error, read')
  environment.unresponsive.add('kubelet').add('containerd')
  await agent.heal(settledAfter + noticedAfter)
  // An operator stopped the kubelet, so healing does not start it.
  expect(environment.steps).toMatchObject([{ component: 'containerd', actions: ['restart'] }])
  expect(await createHealer(agent.deps).once()).toMatchObject({ problems: [environment.driftError] })
})

test('another plan resets escalations and probes; without a plan nothing is probed', async () => {
  await using host = await healthyHost()
  const environment = createFakeEnvironment()
  const agent = await startFakeAgent(environment, host)
  await agent.heal(settledAfter)
  environment.unresponsive.add('kubelet')
  environment.perform = async () => []
  await agent.heal(noticedAfter)
  expect(agent.stateStore.current.escalations).toMatchObject({ kubelet: { step: 1 } })
  await applyAndListOps(host, servicesPlan('two'))
  environment.unresponsive.clear()
  await agent.heal(1)
  expect(agent.stateStore.current.escalations).toEqual({})
  await host.files.remove(statePath(host, 'plan.json'))
  await agent.heal(1)
  environment.probed.length = 0
  await agent.heal(5)
  expect(environment.probed).toEqual([])
})

test('health is reported on request; running every probe heals nothing, and makes none fail', async () => {
  await using host = await healthyHost()
  const environment = createFakeEnvironment()
  const agent = await startFakeAgent(environment, host)
  await agent.heal(settledAfter)
  const healer = createHealer(agent.deps)
  environment.unresponsive.add('kubelet')
  const signal = new AbortController().signal
  for (let i = 0; i < 4; i++) {
    const { probes } = await healer.health(true, signal)
    expect(probes).toMatchObject([
      { component: 'containerd', probe: 'cri', state: 'healthy' },
      { component: 'kubelet', probe: 'healthz', state: 'degraded', code: 'HEALTH_NO_RESPONSE' },
    ])
  }
  expect(environment.steps).toEqual([])
  expect(await healer.health(false, signal)).toMatchObject({
    healPolicy: 'default',
    budget: { used: 0, max: 10 },
    components: [
      { component: 'host', state: 'healthy' },
      {
        component: 'containerd',
        state: 'healthy',
        service: { name: 'containerd.service', active: 'active' },
      },
      { component: 'kubelet', state: 'healthy' },
    ],
  })
})

test('the healer runs until it is stopped, and heals a component that stops responding', async () => {
  await using host = await healthyHost()
  const environment = createFakeEnvironment()
  const agent = await startFakeAgent(environment, host)
  const healer = createHealer(agent.deps)
  const running = healer.run()
  const signal = new AbortController().signal
  const isKnown = async (): Promise<boolean> => {
    await environment.clock.pass(1000)
    return (await healer.health(false, signal)).probes.every(({ state }) => state === 'healthy')
  }
  await pollUntil('all probes to be healthy', isKnown, { timeoutMs: 5000, intervalMs: 1 })
  for (let i = 0; i < 70; i++) await environment.clock.pass(1000)
  environment.unresponsive.add('containerd')
  const isHealed = async (): Promise<boolean> => {
    await environment.clock.pass(1000)
    return environment.reported.some(({ action }) => action === 'recovered')
  }
  await pollUntil('the recovery', isHealed, { timeoutMs: 5000, intervalMs: 1 })
  expect(environment.steps).toMatchObject([{ component: 'containerd', actions: ['restart'] }])
  agent.die()
  await running
})
