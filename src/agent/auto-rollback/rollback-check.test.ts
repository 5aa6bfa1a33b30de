import { expect, test } from 'vitest'
import { digestOf } from '../../diff/digest.ts'
import { componentOf } from '../../diff/testing/fixtures.ts'
import { applied, hostPlan, publish, running } from '../apply/testing/fixtures.ts'
import { diffHost } from '../apply/diff-host.ts'
import { readJournal } from '../apply/journal.ts'
import { Killed, mortal } from '../apply/testing/crash-injection.ts'
import { lastPlan } from '../apply/applied-plan.ts'
import { temporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { agentOf, before, minute, publishAll, settingOf, tried, trialUntil } from './testing/rollback-host.ts'

const ana = { holder: 'ana', generation: 1 }

/** On a host that was taken through a plan, another one is on trial for ten minutes, in the second slot. */
async function trying(host: TemporaryHost) {
  publishAll(host)
  await applied(host, before)
  const agent = await agentOf(host)
  await agent.work.beginTrial(trialUntil(host.clock.time + 10 * minute))
  await applied(host, tried)
  expect(await settingOf(host)).toBe('tried')
  return agent
}

test('when nobody keeps it, the host goes back by itself, in its slot', async () => {
  await using host = await temporaryHost()
  const { look, work, said } = await trying(host)
  host.clock.time += 11 * minute
  expect(await look()).toEqual({ next: 15_000 })
  expect(await settingOf(host)).toBe('tried')
  host.clock.time += minute
  expect(await look()).toEqual({ next: 15_000, troubles: [] })
  expect(await settingOf(host)).toBe('before')
  expect(await diffHost(host, before)).toEqual({ ops: [], findings: [] })
  expect(await lastPlan(host)).toEqual(before)
  expect(await work.trial()).toMatchObject({ state: 'went-back', at: host.clock.now().toISOString() })
  expect(said).toHaveLength(1)
  const journal = (await readJournal(host)).map(({ what }) => what)
  expect(journal.findLast(({ type }) => type === 'run-started')).toMatchObject({
    command: 'go back: the trial ended at 2027-01-01T00:10:00.000Z and was not kept',
    plan: digestOf(before),
  })
  expect(journal.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done' })
  // And nothing is done twice.
  await look()
  expect((await readJournal(host)).map(({ what }) => what)).toEqual(journal)
})

test('what is kept stays, and is not known any more', async () => {
  await using host = await temporaryHost()
  const { look, work } = await trying(host)
  const { id } = trialUntil(0)
  expect(await work.keepTrial(id)).toBeUndefined()
  host.clock.time += 60 * minute
  await look()
  expect(await settingOf(host)).toBe('tried')
  expect(await work.formerPlan(digestOf(tried))).toEqual(before)
  expect(await work.keepTrial(id)).toBeUndefined()
})

test('a later end counts, and an earlier one', async () => {
  await using host = await temporaryHost()
  const { look, work } = await trying(host)
  const { id } = trialUntil(0)
  host.clock.time += 9 * minute
  const later = new Date(host.clock.time + 10 * minute).toISOString()
  expect(await work.moveTrial(id, later)).toMatchObject({ deadline: later, slot: 2 * minute })
  host.clock.time += 9 * minute
  await look()
  expect(await settingOf(host)).toBe('tried')
  await work.moveTrial(id, host.clock.now().toISOString())
  host.clock.time += 2 * minute
  await look()
  expect(await settingOf(host)).toBe('before')
  expect(await work.moveTrial(id, later)).toMatchObject({ state: 'went-back' })
})

test('who begins the same again goes on with it, and goes back to what was before the first', async () => {
  await using host = await temporaryHost()
  const { look, work } = await trying(host)
  expect(await work.formerPlan(undefined)).toEqual(before)
  await work.beginTrial(trialUntil(host.clock.time + 20 * minute, 0))
  expect(await work.formerPlan(undefined)).toEqual(before)
  host.clock.time += 20 * minute
  await look()
  expect(await settingOf(host)).toBe('before')
})

test('of two trials the second one is refused, and so is one with nothing to go back to', async () => {
  await using host = await temporaryHost()
  const { work } = await trying(host)
  const other = { ...trialUntil(host.clock.time), id: '33333333-3333-4333-8333-333333333333' }
  await expect(work.beginTrial(other)).rejects.toMatchObject({ code: 'TRIAL_OTHER' })
  await expect(work.keepTrial(other.id)).rejects.toMatchObject({ code: 'TRIAL_OTHER' })
  await using fresh = await temporaryHost()
  const agent = await agentOf(fresh)
  await expect(agent.work.beginTrial(other)).rejects.toMatchObject({ code: 'TRIAL_FIRST' })
  expect(await agent.look()).toEqual({ next: 15_000, troubles: [] })
})

test('while it goes back nobody keeps it or begins another one, which would be forgotten with it', async () => {
  await using host = await temporaryHost()
  const { work } = await trying(host)
  const { signal } = new AbortController()
  const going = work.goBack('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', () => undefined, signal)
  const busy = { code: 'TRIAL_GOES_BACK' }
  await expect(work.beginTrial(trialUntil(host.clock.time))).rejects.toMatchObject(busy)
  await expect(work.keepTrial(trialUntil(0).id)).rejects.toMatchObject(busy)
  await going
  expect(await work.keepTrial(trialUntil(0).id)).toMatchObject({ state: 'went-back' })
})

test('an operator keeps it waiting, and not for ever', async () => {
  await using host = await temporaryHost()
  const { look, claims } = await trying(host)
  await claims.take(ana, false, false)
  for (let turn = 0; turn < 60; turn++) {
    host.clock.time += minute / 2
    await claims.require(ana)
    await look()
  }
  expect(await settingOf(host)).toBe('tried')
  // Nothing is heard of them any more: it takes a minute to know that, and then the slot.
  host.clock.time += 2 * minute
  await look()
  expect(await settingOf(host)).toBe('tried')
  host.clock.time += minute
  await look()
  expect(await settingOf(host)).toBe('before')
})

test('a run that is under way is waited for, and whoever follows it may go on after it', async () => {
  await using host = await temporaryHost()
  const { look, claims, runs } = await trying(host)
  await claims.take(ana, false, false)
  const long = Promise.withResolvers<void>()
  await runs.start('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', 'apply', async () => long.promise)
  host.clock.time += 30 * minute
  const looked = look()
  long.resolve()
  expect(await looked).toEqual({ next: 15_000 })
  // They are not heard of while they follow it; half a minute later they are.
  host.clock.time += minute / 2
  await look()
  await claims.require(ana)
  await claims.release(ana)
  expect(await settingOf(host)).toBe('tried')
  host.clock.time += 2 * minute
  await look()
  expect(await settingOf(host)).toBe('before')
})

test('after a restart it is looked at anew, and the slot counts from then', async () => {
  await using host = await temporaryHost()
  await trying(host)
  host.clock.time += 24 * 60 * minute
  const { look } = await agentOf(host)
  host.clock.time += minute
  await look()
  expect(await settingOf(host)).toBe('tried')
  host.clock.time += minute
  await look()
  expect(await settingOf(host)).toBe('before')
})

test('what does not come up again is tried again, and told', async () => {
  await using host = await temporaryHost()
  const { look, work } = await trying(host)
  host.clock.time += 12 * minute
  host.systemd.broken.add('kubelet.service')
  const { next, troubles } = await look()
  expect({ next, troubles }).toMatchObject({ next: minute, troubles: [{ code: 'SERVICE_FAILED' }] })
  expect(await work.trial()).toMatchObject({ state: 'on-trial' })
  host.systemd.broken.clear()
  host.clock.time += minute
  expect(await look()).toEqual({ next: 15_000, troubles: [] })
  expect(await work.trial()).toMatchObject({ state: 'went-back' })
})

test('whatever is done to the host next, nobody speaks of it any more', async () => {
  await using host = await temporaryHost()
  const { look, work } = await trying(host)
  host.clock.time += 12 * minute
  await look()
  await work.apply(
    {
      type: 'apply',
      claim: ana,
      run: '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d',
      through: 'network',
      plan: tried,
      secrets: {},
      certificates: {},
    },
    () => undefined,
    new AbortController().signal,
  )
  expect(await work.trial()).toBeUndefined()
  expect(await settingOf(host)).toBe('tried')
})

test('a file with a secret that somebody has changed is left to an operator', async () => {
  await using host = await temporaryHost()
  const secret = {
    path: '/etc/hyperkube/kubelet/token',
    owner: 'root',
    mode: '0600',
    content: { kind: 'secret', secret: 'token', tag: 'one' },
    restart: false,
  } as const
  const plans = ['before', 'tried'].map((text) => {
    const kubelet = running('kubelet', '1', { text })
    return hostPlan({ ...kubelet, files: [...kubelet.files, secret] })
  })
  const [first = before, second = tried] = plans
  publish(host, first)
  await applied(host, first, { secrets: { token: 'a word' } })
  const { look, work } = await agentOf(host)
  await work.beginTrial(trialUntil(host.clock.time, 0, second))
  await applied(host, second, { secrets: { token: 'a word' } })
  await host.files.remove(secret.path)
  host.clock.time += minute
  expect(await look()).toEqual({ next: 15_000, troubles: [] })
  expect(await settingOf(host)).toBe('before')
  expect((await diffHost(host, first)).ops.map(({ name }) => name)).toEqual([secret.path])
})

test('an agent that was replaced meanwhile goes back, and stays', async () => {
  await using host = await temporaryHost()
  const directory = '/opt/hyperkube/hyperkube-0.1.0'
  const own = { from: 'this-release', name: 'hyperkube', version: '0.1.0', directory } as const
  const agentPart = componentOf({ name: 'hyperkube-agent', stage: 'prepare', artifacts: [own] })
  const [first, second] = [
    { ...before, components: [...before.components, agentPart] },
    { ...tried, components: [...tried.components, agentPart] },
  ]
  publishAll(host)
  await applied(host, first)
  const { work } = await agentOf(host)
  await work.beginTrial(trialUntil(host.clock.time, 0, second))
  await applied(host, second)
  const newer = '/opt/hyperkube/hyperkube-0.2.0'
  await host.files.makeLink(host.layout.current, newer)
  const { look } = await agentOf(host, { ...host, release: { ...host.release, version: '0.2.0' } })
  host.clock.time += minute
  expect(await look()).toEqual({ next: 15_000, troubles: [] })
  expect(await settingOf(host)).toBe('before')
  expect(await host.files.readLink(host.layout.current)).toBe(newer)
})

test('killed at whichever moment, it ends where it was before, and knows it', async () => {
  for (let ends = 0; ; ends += 9) {
    await using host = await temporaryHost()
    await trying(host)
    const life = { calls: 0, ends }
    const mortalAgent = await agentOf(host, mortal(host, life))
    host.clock.time += 30 * minute
    const { troubles } = await mortalAgent.look().catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error
      return { troubles: [error] }
    })
    const agent = await agentOf(host)
    host.clock.time += 30 * minute
    await agent.look()
    expect(await settingOf(host)).toBe('before')
    expect(await agent.work.trial()).toMatchObject({ state: 'went-back' })
    expect(await diffHost(host, before)).toEqual({ ops: [], findings: [] })
    if (troubles?.length === 0) return
  }
})
