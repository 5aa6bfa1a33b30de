import { expect, test } from 'vitest'
import { healMemoryFormat } from '../../contract/heal-state.ts'
import { applied } from '../apply/testing/fixtures.ts'
import { until } from '../../kit/poll-until.ts'
import { readState, statePath } from '../apply/state-file.ts'
import { type TemporaryHost, temporaryHost } from '../host/testing/temporary-host.ts'
import { hostHealer } from './host-healer.ts'
import { agentIn, publishAll, servicesPlan, worldOf } from './testing/fake-agent.ts'

async function healthyHost(): Promise<TemporaryHost & AsyncDisposable> {
  const host = await temporaryHost()
  publishAll(host)
  await applied(host, servicesPlan())
  return host
}

/** In looks: until what was just started gets no more time, and what fails counts. */
const [settled, noticed] = [15, 5]

test('what is silent is restarted once, and said to be well again; what is well is left alone', async () => {
  await using host = await healthyHost()
  const world = worldOf()
  const agent = await agentIn(world, host)
  await agent.look(settled)
  expect([world.steps, world.told]).toEqual([[], []])
  world.silent.add('kubelet')
  await agent.look(noticed)
  expect(world.steps).toMatchObject([
    { component: 'kubelet', actions: ['restart'], code: 'HEALTH_NO_ANSWER' },
  ])
  await agent.look(settled)
  expect(world.steps).toHaveLength(1)
  expect(world.told.map(({ action }) => action)).toEqual(['restart', 'recovered'])
  expect(agent.memory.now.climbs).toEqual({})
})

test('it is written down before it is done: an agent that dies over it does not begin anew', async () => {
  await using host = await healthyHost()
  const world = worldOf()
  const agent = await agentIn(world, host)
  await agent.look(settled)
  world.silent.add('kubelet')
  const written: unknown[] = []
  world.perform = async () => {
    const memory = await readState(host, 'heal.json', healMemoryFormat)
    written.push(memory?.climbs['kubelet']?.rung, memory?.spent.length)
    agent.die()
    throw new Error('gone')
  }
  await expect(agent.look(noticed)).rejects.toThrow('aborted')
  expect(written).toEqual([1, 1])
  world.perform = undefined
  const next = await agentIn(world, host)
  await next.look(settled + noticed)
  expect(world.steps.map(({ actions }) => actions)).toEqual([['restart'], ['rebuild', 'restart']])
})

test('a memory that cannot be read is as good as none', async () => {
  await using host = await healthyHost()
  const world = worldOf()
  await host.files.write(statePath(host, 'heal.json'), Buffer.from('{"kind'), { uid: 0, gid: 0, mode: 0o600 })
  world.silent.add('containerd')
  const agent = await agentIn(world, host)
  await agent.look(settled)
  expect(world.steps).toMatchObject([{ component: 'containerd', actions: ['restart'] }])
})

test('nothing is done while somebody else is at work, or has asked for peace', async () => {
  await using host = await healthyHost()
  const world = worldOf()
  const agent = await agentIn(world, host)
  await agent.look(settled)
  world.silent.add('kubelet')
  world.held = { holder: 'ana', generation: 1, heard: Infinity, released: false }
  await agent.look(noticed)
  world.held = undefined
  world.busy = true
  await agent.look(noticed)
  world.busy = false
  const healer = hostHealer(agent.scene)
  const paused = { until: new Date(world.clock.now().getTime() + 60_000).toISOString(), by: 'ana' }
  expect(await healer.pause(60_000, 'ana')).toEqual(paused)
  agent.die()
  const next = await agentIn(world, host)
  await next.look(11)
  expect(world.steps).toEqual([])
  await next.look(noticed)
  expect(world.steps).toHaveLength(1)
  expect(await hostHealer(next.scene).pause(0, 'ana')).toBeUndefined()
})

test('what cannot be done is remembered as well, and not tried in a storm', async () => {
  await using host = await healthyHost()
  const world = worldOf()
  world.perform = async () => Promise.reject(new Error('no way'))
  world.drift = { ...world.drift, putBack: new Map([['kubelet', [{ name: '/etc/kubelet' }]]]) }
  const agent = await agentIn(world, host)
  await agent.look(12)
  expect(world.steps).toMatchObject([{ component: 'kubelet', actions: ['put-back'] }])
  expect(agent.memory.now.actions).toMatchObject([
    { action: 'put-back', outcome: 'failed', details: ['no way'] },
  ])
})

test('another plan begins anew, with its own probes; without one there is nothing to look at', async () => {
  await using host = await healthyHost()
  const world = worldOf()
  const agent = await agentIn(world, host)
  await agent.look(settled)
  world.silent.add('kubelet')
  world.perform = async () => []
  await agent.look(noticed)
  expect(agent.memory.now.climbs).toMatchObject({ kubelet: { rung: 1 } })
  await applied(host, servicesPlan('two'))
  world.silent.clear()
  await agent.look(1)
  expect(agent.memory.now.climbs).toEqual({})
  await host.files.remove(statePath(host, 'plan.json'))
  await agent.look(1)
  world.asked.length = 0
  await agent.look(5)
  expect(world.asked).toEqual([])
})

test('whoever asks how the host is hears it; to ask every probe heals nothing, and makes none fail', async () => {
  await using host = await healthyHost()
  const world = worldOf()
  const agent = await agentIn(world, host)
  await agent.look(settled)
  const healer = hostHealer(agent.scene)
  world.silent.add('kubelet')
  const signal = new AbortController().signal
  for (let i = 0; i < 4; i++) {
    const { probes } = await healer.health(true, signal)
    expect(probes).toMatchObject([
      { component: 'containerd', probe: 'cri', state: 'well' },
      { component: 'kubelet', probe: 'healthz', state: 'shaky', code: 'HEALTH_NO_ANSWER' },
    ])
  }
  expect(world.steps).toEqual([])
  expect(await healer.health(false, signal)).toMatchObject({
    ladder: 'usual',
    budget: { spent: 0, most: 10 },
    components: [
      { component: 'host', state: 'well' },
      { component: 'containerd', state: 'well', service: { name: 'containerd.service', active: 'active' } },
      { component: 'kubelet', state: 'well' },
    ],
  })
})

test('it goes on by itself, and what happens wakes it', async () => {
  await using host = await healthyHost()
  const world = worldOf()
  const agent = await agentIn(world, host)
  const healer = hostHealer(agent.scene)
  const kept = healer.keep()
  const signal = new AbortController().signal
  const isKnown = async (): Promise<boolean> => {
    await world.clock.pass(1000)
    return (await healer.health(false, signal)).probes.every(({ state }) => state === 'well')
  }
  await until('probes to be asked', isKnown, { within: 5000, every: 1 })
  for (let i = 0; i < 70; i++) await world.clock.pass(1000)
  world.silent.add('containerd')
  const isHealed = async (): Promise<boolean> => {
    await world.clock.pass(1000)
    return world.told.some(({ action }) => action === 'recovered')
  }
  await until('it to be healed', isHealed, { within: 5000, every: 1 })
  expect(world.steps).toMatchObject([{ component: 'containerd', actions: ['restart'] }])
  agent.die()
  await kept
})
