import { mkdir, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { journalPath, readJournal } from '../../records/journal.ts'
import { ledgerPath } from '../../records/ledger.ts'
import { stopComponentServices } from '../../reset/stop-services.ts'
import { applyAndListOps, programBytes, publishPrograms, someRunId } from '../../apply/testing/fixtures.ts'
import { createTemporaryHost, type TemporaryHost } from '../../host/testing/temporary-host.ts'
import type { HealStep } from '../decision/decision-input.ts'
import {
  conflist,
  createStepDeps,
  healPlan,
  setUpHealHost,
  subnetFile,
  writeHostFile,
} from '../testing/heal-host.ts'
import { captureDirectory } from './capture-logs.ts'
import { performStep, type PerformStepDeps } from './perform-step.ts'

let host: TemporaryHost & AsyncDisposable
let plan: NodePlan
/** Called when a unit starts. */
let atStart: (unit: string) => Promise<void>
beforeEach(async () => {
  atStart = async () => undefined
  host = await createTemporaryHost(async (unit) => {
    await atStart(unit)
    return ''
  })
  plan = await setUpHealHost(host)
})
afterEach(async () => host[Symbol.asyncDispose]())

const neverAborted = new AbortController().signal

function buildStep(actions: HealStep['actions'], more: Partial<HealStep> = {}): HealStep {
  return { component: 'containerd', actions, because: 'healthz: refused', ...more }
}

async function perform(step: HealStep): Promise<HealAction[]> {
  return performIn(await createStepDeps(host, plan), step)
}

/** Performs a step and waits until its run is stored, because the end of a run is emitted earlier. */
async function performIn(deps: PerformStepDeps, step: HealStep): Promise<HealAction[]> {
  try {
    return await performStep(deps, step, neverAborted)
  } finally {
    await deps.runs.stop()
  }
}

async function readText(path: string): Promise<string | undefined> {
  return (await host.files.read(path))?.toString('utf8')
}

async function readJournaled(): Promise<string[]> {
  return (await readJournal(host)).flatMap(({ body }) => {
    if (body.type === 'run-started') return [body.command]
    return body.type === 'op-ended' ? [`${body.op.action} ${body.op.name}: ${body.outcome}`] : []
  })
}

/** Writes process files in /proc in the format of the kernel. */
async function writeProcess(pid: number, state: string): Promise<void> {
  await writeHostFile(host, `/proc/${pid}/status`, `Name:\tx\nState:\t${state}\n`)
  await writeHostFile(host, `/proc/${pid}/wchan`, 'do_signal_stop')
}

const countStarts = (unit: string): number => host.services.units.get(unit)?.starts ?? 0
const readPid = async (unit: string): Promise<number> => (await host.services.show(unit)).pid

test('a restart of a service is recorded in the journal with its reason', async () => {
  const before = countStarts('containerd.service')
  expect(await perform(buildStep(['restart'], { code: 'HEALTH_CHECK_FAILED' }))).toEqual([
    {
      at: host.clock.now().toISOString(),
      component: 'containerd',
      action: 'restart',
      because: 'healthz: refused',
      code: 'HEALTH_CHECK_FAILED',
      outcome: 'done',
      details: [
        expect.stringMatching(/^it was active, running/),
        expect.stringMatching(/^its new process is/),
      ],
    },
  ])
  expect(countStarts('containerd.service')).toBe(before + 1)
  expect(host.services.calls).toEqual(['restart containerd.service'])
  expect((await readJournaled()).slice(-2)).toEqual([
    'heal containerd: restart, because healthz: refused',
    'restart containerd.service: done',
  ])
})

test('an unresponsive service writes its stacks to the journal, then it is restarted', async () => {
  const pid = await readPid('containerd.service')
  await writeProcess(pid, 'S (sleeping)')
  const [action] = await perform(buildStep(['restart'], { code: 'HEALTH_NO_RESPONSE' }))
  expect(host.services.calls).toEqual(['quit-main containerd.service', 'restart containerd.service'])
  expect(action?.details).toContain(`its process ${pid} wrote its stacks to the journal and exited`)
})

test('an unresponsive service that ignores SIGQUIT is killed: it would not handle SIGTERM', async () => {
  const pid = await readPid('containerd.service')
  await writeProcess(pid, 'S (sleeping)')
  host.services.deaf.add('containerd.service')
  const [action] = await perform(buildStep(['restart'], { code: 'HEALTH_NO_RESPONSE' }))
  expect(host.services.calls).toEqual([
    'quit-main containerd.service',
    'kill-main containerd.service',
    'restart containerd.service',
  ])
  expect(action?.details).toEqual([
    `it was active, running, process ${pid} S (sleeping) in do_signal_stop`,
    `killed its process ${pid}`,
    expect.stringMatching(/^its new process is/),
  ])
})

test('a service whose process is stopped is killed, whatever the failure of its probe', async () => {
  await writeProcess(await readPid('containerd.service'), 'T (stopped)')
  await perform(buildStep(['restart'], { code: 'HEALTH_CHECK_FAILED' }))
  expect(host.services.calls).toEqual(['kill-main containerd.service', 'restart containerd.service'])
})

test('a service that does not stop is killed after 30 seconds', async () => {
  host.services.stubborn.add('containerd.service')
  const began = host.clock.time
  const [action] = await perform(buildStep(['restart']))
  expect(host.services.calls).toEqual(['restart containerd.service', 'kill-main containerd.service'])
  expect(host.clock.time - began).toBe(30_000)
  expect(action).toMatchObject({ outcome: 'done' })
})

test('the restart of a service that exits at once fails with its last log lines', async () => {
  host.services.broken.add('containerd.service')
  const [action] = await perform(buildStep(['restart']))
  expect(action?.outcome).toBe('failed')
  expect(action?.details.join()).toContain('containerd.service: the last line')
  expect((await readJournaled()).at(-1)).toBe('restart containerd.service: failed')
})

test('a service that an operator stopped is not started', async () => {
  const emit = (): void => undefined
  await stopComponentServices(
    { host, name: 'a', run: someRunId, emit, signal: neverAborted },
    { components: ['containerd'] },
  )
  const [action] = await perform(buildStep(['restart']))
  expect(action).toMatchObject({ outcome: 'failed', details: [expect.stringContaining('by an operator')] })
  expect(countStarts('containerd.service')).toBe(1)
})

test('no step is performed if an operator holds the lock or another plan is applied', async () => {
  const deps = await createStepDeps(host, plan)
  await deps.claims.acquire({ holder: 'ana', generation: 1 }, false, false)
  expect(await performIn(deps, buildStep(['restart']))).toEqual([])
  const other = healPlan('two')
  publishPrograms(host, other)
  expect(await performIn(await createStepDeps(host, other), buildStep(['restart']))).toEqual([])
  expect(host.services.calls).toEqual([])
})

test('an unreadable ledger and journal do not prevent healing', async () => {
  await writeFile(host.toLocalPath(ledgerPath(host)), 'x')
  await rm(host.toLocalPath(journalPath(host)))
  await mkdir(host.toLocalPath(journalPath(host)))
  expect(await perform(buildStep(['repair', 'restart']))).toMatchObject([
    { action: 'repair', outcome: 'failed' },
    { action: 'restart', outcome: 'done' },
  ])
})

test('corrupted files and units are repaired without a restart', async () => {
  const program = host.toLocalPath('/opt/hyperkube/containerd-1/containerd')
  await truncate(program, 3)
  await writeFile(host.toLocalPath('/etc/hyperkube/containerd/config'), 'xxx')
  await writeFile(host.toLocalPath('/etc/systemd/system/containerd.service'), '[Service]\n')
  await host.services.disable('containerd.service')
  host.services.calls.length = 0
  const [action] = await perform(buildStep(['repair']))
  expect(action).toMatchObject({ outcome: 'done' })
  expect(action?.details).toHaveLength(3)
  expect(await readText('/opt/hyperkube/containerd-1/containerd')).toBe(
    Buffer.from(programBytes('containerd', '1')).toString(),
  )
  expect(await readText('/etc/hyperkube/containerd/config')).toBe('one')
  expect(host.services.calls).toEqual(['enable containerd.service', 'reload'])
  expect((await host.services.show('containerd.service')).enabled).toBe(true)
  expect(countStarts('containerd.service')).toBe(1)
})

test('a process that is older than the corruption is not restarted by the next apply', async () => {
  const pid = await readPid('containerd.service')
  await mkdir(host.toLocalPath(`/proc/${pid}`), { recursive: true })
  const longAgo = new Date(Date.now() - 60_000)
  await utimes(host.toLocalPath(`/proc/${pid}`), longAgo, longAgo)
  await writeFile(host.toLocalPath('/etc/hyperkube/containerd/config'), 'xxx')
  await perform(buildStep(['repair']))
  expect(await applyAndListOps(host, plan, { secrets: { key: 'secret' } })).toEqual([])
})

test('a service that may have read wrong content is restarted by the next apply', async () => {
  await writeFile(host.toLocalPath('/etc/hyperkube/containerd/config'), 'xxx')
  await perform(buildStep(['repair']))
  expect(await applyAndListOps(host, plan, { secrets: { key: 'secret' } })).toEqual([
    'restart service containerd.service',
  ])
})

test('a service that restarts by itself after the repair is not restarted by the next apply', async () => {
  await writeFile(host.toLocalPath('/etc/hyperkube/containerd/config'), 'xxx')
  const deps = await createStepDeps(host, plan)
  const pause: typeof host.clock.pause = async (milliseconds, signal) => {
    await host.clock.pause(milliseconds, signal)
    await host.services.restart('containerd.service')
  }
  const clock = { now: () => host.clock.now(), pause }
  await performIn({ ...deps, host: { ...host, clock } }, buildStep(['repair']))
  expect(await applyAndListOps(host, plan, { secrets: { key: 'secret' } })).toEqual([])
})

test('a service that restarts again and again is repaired between two starts', async () => {
  const path = '/etc/hyperkube/containerd/config'
  await writeFile(host.toLocalPath(path), 'xxx')
  const deps = await createStepDeps(host, plan)
  const readBySystemd: (string | undefined)[] = []
  atStart = async () => void readBySystemd.push(await readText(path))
  let pauses = 0
  const pause: typeof host.clock.pause = async (milliseconds, signal) => {
    await host.clock.pause(milliseconds, signal)
    pauses++
    // The service reads its file only now. A repair before this moment would keep the service running.
    if (pauses === 3 && (await readText(path)) === 'xxx')
      host.services.exitBeforeRestart('containerd.service')
  }
  const clock = { now: () => host.clock.now(), pause }
  await performIn({ ...deps, host: { ...host, clock } }, buildStep(['repair']))
  expect(readBySystemd).toEqual(['one'])
  expect(await applyAndListOps(host, plan, { secrets: { key: 'secret' } })).toEqual([])
})

test('a crashed service that systemd starts just before the repair is restarted', async () => {
  const path = '/etc/hyperkube/containerd/config'
  await writeFile(host.toLocalPath(path), 'xxx')
  const deps = await createStepDeps(host, plan)
  host.services.exitBeforeRestart('containerd.service')
  const show: typeof host.services.show = async (unit) => {
    const state = await host.services.show(unit)
    if (state.sub === 'auto-restart') await host.services.start(unit)
    return state
  }
  const services = { ...host.services, show }
  await performIn({ ...deps, host: { ...host, services } }, buildStep(['repair']))
  expect(await readText(path)).toBe('one')
  expect(await applyAndListOps(host, plan, { secrets: { key: 'secret' } })).toEqual([])
})

test('a service that is repaired and restarted is not restarted by the next apply', async () => {
  await writeFile(host.toLocalPath('/etc/hyperkube/containerd/config'), 'xxx')
  await perform(buildStep(['repair', 'restart']))
  expect(await applyAndListOps(host, plan, { secrets: { key: 'secret' } })).toEqual([])
})

test('an artifact that cannot be fetched is reported, and all else is repaired', async () => {
  await rm(host.toLocalPath('/opt/hyperkube/containerd-1'), { recursive: true })
  await writeFile(host.toLocalPath('/etc/hyperkube/containerd/config'), 'xxx')
  host.remoteFiles.clear()
  const [action] = await perform(buildStep(['repair']))
  expect(action?.outcome).toBe('failed')
  expect(action?.details).toEqual([
    'file /etc/hyperkube/containerd/config: content changed',
    expect.stringContaining('artifact containerd-1: missing'),
  ])
  expect(await readText('/etc/hyperkube/containerd/config')).toBe('one')
})

test('a derived file is regenerated from the source that its service writes at the start', async () => {
  await writeHostFile(host, subnetFile, 'FLANNEL_SUBNET=10.244.9.1/24\n')
  atStart = async (unit) => {
    if (unit === 'flanneld.service') await writeHostFile(host, subnetFile, 'FLANNEL_SUBNET=10.244.3.1/24\n')
  }
  const actions = await perform(buildStep(['regenerate', 'restart'], { component: 'flanneld' }))
  expect(actions.map(({ action, outcome }) => [action, outcome])).toEqual([
    ['restart', 'done'],
    ['regenerate', 'done'],
  ])
  expect(await readText(conflist)).toBe('10.244.3.0/24\n')
})

test('a derived file stays unchanged if its service does not write the source', async () => {
  await writeHostFile(host, subnetFile, 'FLANNEL_SUBNET=10.244.9.1/24\n')
  const [, action] = await perform(buildStep(['regenerate', 'restart'], { component: 'flanneld' }))
  expect(action?.details).toEqual([`${conflist} was not changed: flanneld has not written ${subnetFile} yet`])
  expect(await readText(conflist)).toBe('10.244.3.0/24\n')
})

test('a derived file is regenerated from the existing source if there is no restart', async () => {
  await rm(host.toLocalPath(conflist))
  expect(await perform(buildStep(['regenerate'], { component: 'flanneld' }))).toMatchObject([
    { outcome: 'done', details: [`${conflist}, from ${subnetFile}`] },
  ])
  expect(await readText(conflist)).toBe('10.244.3.0/24\n')
})

test('captured logs are stored, their last lines are reported, and five captures are kept', async () => {
  host.services.written.set(
    'containerd.service',
    Array.from({ length: 40 }, (_, index) => `line ${index}\u001b`),
  )
  for (let index = 0; index < 7; index++) {
    host.clock.time += 1000
    const [action] = await perform(buildStep(['capture-logs']))
    expect(action?.details).toHaveLength(11)
    expect(action?.details.at(-1)).toBe('line 39\\u001b')
  }
  const kept = await readdir(host.toLocalPath(captureDirectory))
  expect(kept).toHaveLength(5)
  expect(await readText(`${captureDirectory}/${kept[0]}`)).toContain('line 0\\u001b')
})

test('a give-up is recorded in the journal', async () => {
  expect(await perform(buildStep(['give-up'], { code: 'HEAL_EXHAUSTED' }))).toMatchObject([
    { action: 'give-up', outcome: 'done', details: [] },
  ])
  expect((await readJournaled()).at(-1)).toBe('heal containerd: give-up, because healthz: refused')
})

test('an abort rejects the step with the reason of the signal', async () => {
  const stop = new AbortController()
  stop.abort(new Error('the agent stops'))
  await expect(
    performStep(await createStepDeps(host, plan), buildStep(['restart']), stop.signal),
  ).rejects.toThrow('the agent stops')
})
