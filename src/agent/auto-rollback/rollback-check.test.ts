import { expect, test } from 'vitest'
import { computeDigest } from '../../diff/resource.ts'
import { buildComponent } from '../../diff/testing/fixtures.ts'
import { diffHost } from '../apply/diff-host.ts'
import { readJournal } from '../records/journal.ts'
import { readAppliedPlan } from '../records/state-file.ts'
import { Killed, withCrash } from '../apply/testing/crash-injection.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
} from '../apply/testing/fixtures.ts'
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import {
  minute,
  previousPlan,
  provisionalPlan,
  provisionalUntil,
  publishSettingsPlans,
  readSetting,
  startRollbackAgent,
} from './testing/rollback-host.ts'

const ana = { holder: 'ana', generation: 1 }

/** Applies a plan, then another one provisionally for ten minutes, with a rollback delay of two minutes. */
async function startProvisional(host: TemporaryHost) {
  publishSettingsPlans(host)
  await applyAndListOps(host, previousPlan)
  const agent = await startRollbackAgent(host)
  await agent.work.beginProvisional(provisionalUntil(host.clock.time + 10 * minute))
  await applyAndListOps(host, provisionalPlan)
  expect(await readSetting(host)).toBe('tried')
  return agent
}

test('an unconfirmed change is rolled back by the host itself, after its delay', async () => {
  await using host = await createTemporaryHost()
  const { check, work, logged } = await startProvisional(host)
  host.clock.time += 11 * minute
  expect(await check()).toEqual({ nextMs: 15_000 })
  expect(await readSetting(host)).toBe('tried')
  host.clock.time += minute
  expect(await check()).toEqual({ nextMs: 15_000, problems: [] })
  expect(await readSetting(host)).toBe('before')
  expect(await diffHost(host, previousPlan)).toEqual({ ops: [], findings: [] })
  expect(await readAppliedPlan(host)).toEqual(previousPlan)
  expect(await work.provisional()).toMatchObject({ state: 'rolled-back', at: host.clock.now().toISOString() })
  expect(logged).toHaveLength(1)
  const journal = (await readJournal(host)).map(({ body }) => body)
  expect(journal.findLast(({ type }) => type === 'run-started')).toMatchObject({
    command: 'roll back: the provisional change ended at 2027-01-01T00:10:00.000Z and was not confirmed',
    plan: computeDigest(previousPlan),
  })
  expect(journal.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done' })
  // A second check adds nothing to the journal.
  await check()
  expect((await readJournal(host)).map(({ body }) => body)).toEqual(journal)
})

test('a confirmed change stays, and is no longer provisional', async () => {
  await using host = await createTemporaryHost()
  const { check, work } = await startProvisional(host)
  const { id } = provisionalUntil(0)
  expect(await work.confirmProvisional(id)).toBeUndefined()
  host.clock.time += 60 * minute
  await check()
  expect(await readSetting(host)).toBe('tried')
  expect(await work.previousPlan(computeDigest(provisionalPlan))).toEqual(previousPlan)
  expect(await work.confirmProvisional(id)).toBeUndefined()
})

test('the deadline of a provisional change can be moved later and earlier', async () => {
  await using host = await createTemporaryHost()
  const { check, work } = await startProvisional(host)
  const { id } = provisionalUntil(0)
  host.clock.time += 9 * minute
  const later = new Date(host.clock.time + 10 * minute).toISOString()
  expect(await work.moveProvisional(id, later)).toMatchObject({
    deadline: later,
    rollbackDelayMs: 2 * minute,
  })
  host.clock.time += 9 * minute
  await check()
  expect(await readSetting(host)).toBe('tried')
  await work.moveProvisional(id, host.clock.now().toISOString())
  host.clock.time += 2 * minute
  await check()
  expect(await readSetting(host)).toBe('before')
  expect(await work.moveProvisional(id, later)).toMatchObject({ state: 'rolled-back' })
})

test('a repeated provisional change still rolls back to the plan from before the first one', async () => {
  await using host = await createTemporaryHost()
  const { check, work } = await startProvisional(host)
  expect(await work.previousPlan(undefined)).toEqual(previousPlan)
  await work.beginProvisional(provisionalUntil(host.clock.time + 20 * minute, 0))
  expect(await work.previousPlan(undefined)).toEqual(previousPlan)
  host.clock.time += 20 * minute
  await check()
  expect(await readSetting(host)).toBe('before')
})

test('a second provisional change is refused, and so is one without a previous plan', async () => {
  await using host = await createTemporaryHost()
  const { work } = await startProvisional(host)
  const other = { ...provisionalUntil(host.clock.time), id: '33333333-3333-4333-8333-333333333333' }
  await expect(work.beginProvisional(other)).rejects.toMatchObject({ code: 'PROVISIONAL_CONFLICT' })
  await expect(work.confirmProvisional(other.id)).rejects.toMatchObject({ code: 'PROVISIONAL_CONFLICT' })
  await using fresh = await createTemporaryHost()
  const agent = await startRollbackAgent(fresh)
  await expect(agent.work.beginProvisional(other)).rejects.toMatchObject({
    code: 'PROVISIONAL_NO_PREVIOUS_PLAN',
  })
  expect(await agent.check()).toEqual({ nextMs: 15_000, problems: [] })
})

test('during a rollback the change cannot be confirmed, and no provisional change can begin', async () => {
  await using host = await createTemporaryHost()
  const { work } = await startProvisional(host)
  const { signal } = new AbortController()
  const going = work.rollback('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', () => undefined, signal)
  const busy = { code: 'PROVISIONAL_ROLLING_BACK' }
  await expect(work.beginProvisional(provisionalUntil(host.clock.time))).rejects.toMatchObject(busy)
  await expect(work.confirmProvisional(provisionalUntil(0).id)).rejects.toMatchObject(busy)
  await going
  expect(await work.confirmProvisional(provisionalUntil(0).id)).toMatchObject({ state: 'rolled-back' })
})

test('a rollback waits while an operator sends heartbeats, and not longer', async () => {
  await using host = await createTemporaryHost()
  const { check, claims } = await startProvisional(host)
  await claims.acquire(ana, false, false)
  for (let turn = 0; turn < 60; turn++) {
    host.clock.time += minute / 2
    await claims.requireHeld(ana)
    await check()
  }
  expect(await readSetting(host)).toBe('tried')
  // The operator no longer sends heartbeats. The operator lock times out after one minute, then the rollback
  // delay begins.
  host.clock.time += 2 * minute
  await check()
  expect(await readSetting(host)).toBe('tried')
  host.clock.time += minute
  await check()
  expect(await readSetting(host)).toBe('before')
})

test('the rollback waits for a run, and an operator who follows the run may continue after it', async () => {
  await using host = await createTemporaryHost()
  const { check, claims, runs } = await startProvisional(host)
  await claims.acquire(ana, false, false)
  const longRun = Promise.withResolvers<void>()
  await runs.start('7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d', 'apply', async () => longRun.promise)
  host.clock.time += 30 * minute
  const checking = check()
  longRun.resolve()
  expect(await checking).toEqual({ nextMs: 15_000 })
  // The operator sends no heartbeats while following the run. The next heartbeat comes half a minute after
  // the run.
  host.clock.time += minute / 2
  await check()
  await claims.requireHeld(ana)
  await claims.release(ana)
  expect(await readSetting(host)).toBe('tried')
  host.clock.time += 2 * minute
  await check()
  expect(await readSetting(host)).toBe('before')
})

test('after a restart of the agent the rollback delay counts from the start', async () => {
  await using host = await createTemporaryHost()
  await startProvisional(host)
  host.clock.time += 24 * 60 * minute
  const { check } = await startRollbackAgent(host)
  host.clock.time += minute
  await check()
  expect(await readSetting(host)).toBe('tried')
  host.clock.time += minute
  await check()
  expect(await readSetting(host)).toBe('before')
})

test('a failed rollback is reported and tried again', async () => {
  await using host = await createTemporaryHost()
  const { check, work } = await startProvisional(host)
  host.clock.time += 12 * minute
  host.services.broken.add('kubelet.service')
  expect(await check()).toMatchObject({ nextMs: minute, problems: [{ code: 'SERVICE_FAILED' }] })
  expect(await work.provisional()).toMatchObject({ state: 'provisional' })
  host.services.broken.clear()
  host.clock.time += minute
  expect(await check()).toEqual({ nextMs: 15_000, problems: [] })
  expect(await work.provisional()).toMatchObject({ state: 'rolled-back' })
})

test('the next apply ends the report of the rollback', async () => {
  await using host = await createTemporaryHost()
  const { check, work } = await startProvisional(host)
  host.clock.time += 12 * minute
  await check()
  await work.apply(
    {
      type: 'apply',
      claim: ana,
      run: '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d',
      through: 'network',
      plan: provisionalPlan,
      secrets: {},
      certificates: {},
    },
    () => undefined,
    new AbortController().signal,
  )
  expect(await work.provisional()).toBeUndefined()
  expect(await readSetting(host)).toBe('tried')
})

test('a deleted secret file is left to an operator, and does not prevent the rollback', async () => {
  await using host = await createTemporaryHost()
  const secret = {
    path: '/etc/hyperkube/kubelet/token',
    owner: 'root',
    mode: '0600',
    content: { kind: 'secret', secret: 'token', tag: 'one' },
    restart: false,
  } as const
  const plans = ['before', 'tried'].map((text) => {
    const kubelet = runningComponent('kubelet', '1', { text })
    return buildPlanWithHost({ ...kubelet, files: [...kubelet.files, secret] })
  })
  const [first = previousPlan, second = provisionalPlan] = plans
  publishPrograms(host, first)
  await applyAndListOps(host, first, { secrets: { token: 'a word' } })
  const { check, work } = await startRollbackAgent(host)
  await work.beginProvisional(provisionalUntil(host.clock.time, 0, second))
  await applyAndListOps(host, second, { secrets: { token: 'a word' } })
  await host.files.remove(secret.path)
  host.clock.time += minute
  expect(await check()).toEqual({ nextMs: 15_000, problems: [] })
  expect(await readSetting(host)).toBe('before')
  expect((await diffHost(host, first)).ops.map(({ name }) => name)).toEqual([secret.path])
})

test('an agent that was replaced meanwhile rolls back, and stays installed', async () => {
  await using host = await createTemporaryHost()
  const directory = '/opt/hyperkube/hyperkube-0.1.0'
  const own = { from: 'this-release', name: 'hyperkube', version: '0.1.0', directory } as const
  const agentPart = buildComponent({ name: 'hyperkube-agent', stage: 'prepare', artifacts: [own] })
  const [first, second] = [
    { ...previousPlan, components: [...previousPlan.components, agentPart] },
    { ...provisionalPlan, components: [...provisionalPlan.components, agentPart] },
  ]
  publishSettingsPlans(host)
  await applyAndListOps(host, first)
  const { work } = await startRollbackAgent(host)
  await work.beginProvisional(provisionalUntil(host.clock.time, 0, second))
  await applyAndListOps(host, second)
  const newer = '/opt/hyperkube/hyperkube-0.2.0'
  await host.files.makeLink(host.layout.currentLink, newer)
  const { check } = await startRollbackAgent(host, {
    ...host,
    release: { ...host.release, version: '0.2.0' },
  })
  host.clock.time += minute
  expect(await check()).toEqual({ nextMs: 15_000, problems: [] })
  expect(await readSetting(host)).toBe('before')
  expect(await host.files.readLink(host.layout.currentLink)).toBe(newer)
})

test('a rollback that is killed at any point is completed by the next agent', async () => {
  for (let ends = 0; ; ends += 9) {
    await using host = await createTemporaryHost()
    await startProvisional(host)
    const crash = { calls: 0, ends }
    const crashingAgent = await startRollbackAgent(host, withCrash(host, crash))
    host.clock.time += 30 * minute
    const { problems } = await crashingAgent.check().catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error
      return { problems: [error] }
    })
    const agent = await startRollbackAgent(host)
    host.clock.time += 30 * minute
    await agent.check()
    expect(await readSetting(host)).toBe('before')
    expect(await agent.work.provisional()).toMatchObject({ state: 'rolled-back' })
    expect(await diffHost(host, previousPlan)).toEqual({ ops: [], findings: [] })
    if (problems?.length === 0) return
  }
})
