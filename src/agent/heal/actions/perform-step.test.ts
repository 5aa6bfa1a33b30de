import { mkdir, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { applied, programBytes, publish, someRun } from '../../apply/testing/fixtures.ts'
import { journalPath, readJournal } from '../../apply/journal.ts'
import { ledgerPath } from '../../apply/ledger-store.ts'
import { stopServices } from '../../apply/reset/stop-services.ts'
import { type TemporaryHost, temporaryHost } from '../../host/testing/temporary-host.ts'
import type { HealStep } from '../decision/heal-step.ts'
import { conflist, healPlan, putOn, sceneOf, setUp, subnetFile } from '../testing/heal-host.ts'
import { captures } from './capture-logs.ts'
import { type ActScene, performStep } from './perform-step.ts'

let host: TemporaryHost & AsyncDisposable
let plan: NodePlan
/** What a unit does when it starts. */
let atStart: (unit: string) => Promise<void>
beforeEach(async () => {
  atStart = async () => undefined
  host = await temporaryHost(async (unit) => {
    await atStart(unit)
    return ''
  })
  plan = await setUp(host)
})
afterEach(async () => host[Symbol.asyncDispose]())

const never = new AbortController().signal

function stepOf(actions: HealStep['actions'], more: Partial<HealStep> = {}): HealStep {
  return { component: 'containerd', actions, because: 'healthz: refused', ...more }
}

async function performed(step: HealStep): Promise<HealAction[]> {
  return performedIn(await sceneOf(host, plan), step)
}

/** The end of a run is told before it is written down. */
async function performedIn(scene: ActScene, step: HealStep): Promise<HealAction[]> {
  try {
    return await performStep(scene, step, never)
  } finally {
    await scene.runs.stop()
  }
}

async function textOf(path: string): Promise<string | undefined> {
  return (await host.files.read(path))?.toString('utf8')
}

async function journaled(): Promise<string[]> {
  return (await readJournal(host)).flatMap(({ what }) => {
    if (what.type === 'run-started') return [what.command]
    return what.type === 'op-ended' ? [`${what.op.action} ${what.op.name}: ${what.outcome}`] : []
  })
}

/** As the kernel has it. */
async function processOf(pid: number, state: string): Promise<void> {
  await putOn(host, `/proc/${pid}/status`, `Name:\tx\nState:\t${state}\n`)
  await putOn(host, `/proc/${pid}/wchan`, 'do_signal_stop')
}

const startsOf = (unit: string): number => host.systemd.units.get(unit)?.starts ?? 0
const pidOf = async (unit: string): Promise<number> => (await host.systemd.show(unit)).pid

test('a service is restarted, as an op of the journal and with its reason', async () => {
  const before = startsOf('containerd.service')
  expect(await performed(stepOf(['restart'], { code: 'HEALTH_UNWELL' }))).toEqual([
    {
      at: host.clock.now().toISOString(),
      component: 'containerd',
      action: 'restart',
      because: 'healthz: refused',
      code: 'HEALTH_UNWELL',
      outcome: 'done',
      details: [expect.stringMatching(/^it was active, running/), expect.stringMatching(/^its process is/)],
    },
  ])
  expect(startsOf('containerd.service')).toBe(before + 1)
  expect(host.systemd.calls).toEqual(['restart containerd.service'])
  expect((await journaled()).slice(-2)).toEqual([
    'heal containerd: restart, because healthz: refused',
    'restart containerd.service: done',
  ])
})

test('one that is silent is killed first: it would not hear that it shall end', async () => {
  const pid = await pidOf('containerd.service')
  await processOf(pid, 'S (sleeping)')
  const [action] = await performed(stepOf(['restart'], { code: 'HEALTH_NO_ANSWER' }))
  expect(host.systemd.calls).toEqual(['kill-main containerd.service', 'restart containerd.service'])
  expect(action?.details).toEqual([
    `it was active, running, process ${pid} S (sleeping) in do_signal_stop`,
    `killed its process ${pid}`,
    expect.stringMatching(/^its process is/),
  ])
})

test('so is one that the kernel holds, whatever its probes say', async () => {
  await processOf(await pidOf('containerd.service'), 'T (stopped)')
  await performed(stepOf(['restart'], { code: 'HEALTH_UNWELL' }))
  expect(host.systemd.calls).toEqual(['kill-main containerd.service', 'restart containerd.service'])
})

test('one that does not end gets its time, and is killed then', async () => {
  host.systemd.stubborn.add('containerd.service')
  const began = host.clock.time
  const [action] = await performed(stepOf(['restart']))
  expect(host.systemd.calls).toEqual(['restart containerd.service', 'kill-main containerd.service'])
  expect(host.clock.time - began).toBe(30_000)
  expect(action).toMatchObject({ outcome: 'done' })
})

test('one that ends at once was not started, and its words are told', async () => {
  host.systemd.broken.add('containerd.service')
  const [action] = await performed(stepOf(['restart']))
  expect(action?.outcome).toBe('failed')
  expect(action?.details.join()).toContain('containerd.service: the last line')
  expect((await journaled()).at(-1)).toBe('restart containerd.service: failed')
})

test('what an operator has stopped is not started', async () => {
  const emit = (): void => undefined
  await stopServices({ host, name: 'a', run: someRun, emit, signal: never }, { components: ['containerd'] })
  const [action] = await performed(stepOf(['restart']))
  expect(action).toMatchObject({ outcome: 'failed', details: [expect.stringContaining('by an operator')] })
  expect(startsOf('containerd.service')).toBe(1)
})

test('nothing is done once somebody else decides, or another plan counts', async () => {
  const scene = await sceneOf(host, plan)
  await scene.claims.take({ holder: 'somebody', generation: 1 }, false, false)
  expect(await performedIn(scene, stepOf(['restart']))).toEqual([])
  const other = healPlan('two')
  publish(host, other)
  expect(await performedIn(await sceneOf(host, other), stepOf(['restart']))).toEqual([])
  expect(host.systemd.calls).toEqual([])
})

test('a ledger and a journal that are spoilt keep nobody from being healed', async () => {
  await writeFile(host.place(ledgerPath(host)), 'x')
  await rm(host.place(journalPath(host)))
  await mkdir(host.place(journalPath(host)))
  expect(await performed(stepOf(['put-back', 'restart']))).toMatchObject([
    { action: 'put-back', outcome: 'failed' },
    { action: 'restart', outcome: 'done' },
  ])
})

test('what was spoilt comes back, and nothing that runs is disturbed', async () => {
  const program = host.place('/opt/hyperkube/containerd-1/containerd')
  await truncate(program, 3)
  await writeFile(host.place('/etc/hyperkube/containerd/config'), 'xxx')
  await writeFile(host.place('/etc/systemd/system/containerd.service'), '[Service]\n')
  await host.systemd.disable('containerd.service')
  host.systemd.calls.length = 0
  const [action] = await performed(stepOf(['put-back']))
  expect(action).toMatchObject({ outcome: 'done' })
  expect(action?.details).toHaveLength(3)
  expect(await textOf('/opt/hyperkube/containerd-1/containerd')).toBe(
    Buffer.from(programBytes('containerd', '1')).toString(),
  )
  expect(await textOf('/etc/hyperkube/containerd/config')).toBe('one')
  expect(host.systemd.calls).toEqual(['enable containerd.service', 'reload'])
  expect((await host.systemd.show('containerd.service')).enabled).toBe(true)
  expect(startsOf('containerd.service')).toBe(1)
})

test('a process that was there before need not start for what came back', async () => {
  const pid = await pidOf('containerd.service')
  await mkdir(host.place(`/proc/${pid}`), { recursive: true })
  const long = new Date(Date.now() - 60_000)
  await utimes(host.place(`/proc/${pid}`), long, long)
  await writeFile(host.place('/etc/hyperkube/containerd/config'), 'xxx')
  await performed(stepOf(['put-back']))
  expect(await applied(host, plan, { secrets: { key: 'secret' } })).toEqual([])
})

test('one that may have read what was wrong is started by whoever comes next', async () => {
  await writeFile(host.place('/etc/hyperkube/containerd/config'), 'xxx')
  await performed(stepOf(['put-back']))
  expect(await applied(host, plan, { secrets: { key: 'secret' } })).toEqual([
    'restart service containerd.service',
  ])
})

test('one that ends over what was wrong, and starts again by itself, has read what came back', async () => {
  await writeFile(host.place('/etc/hyperkube/containerd/config'), 'xxx')
  const scene = await sceneOf(host, plan)
  const pause: typeof host.clock.pause = async (milliseconds, signal) => {
    await host.clock.pause(milliseconds, signal)
    await host.systemd.restart('containerd.service')
  }
  const clock = { now: () => host.clock.now(), pause }
  await performedIn({ ...scene, host: { ...host, clock } }, stepOf(['put-back']))
  expect(await applied(host, plan, { secrets: { key: 'secret' } })).toEqual([])
})

test('put back and restarted, it has seen all there is', async () => {
  await writeFile(host.place('/etc/hyperkube/containerd/config'), 'xxx')
  await performed(stepOf(['put-back', 'restart']))
  expect(await applied(host, plan, { secrets: { key: 'secret' } })).toEqual([])
})

test('what cannot be fetched is told, and all else comes back', async () => {
  await rm(host.place('/opt/hyperkube/containerd-1'), { recursive: true })
  await writeFile(host.place('/etc/hyperkube/containerd/config'), 'xxx')
  host.world.clear()
  const [action] = await performed(stepOf(['put-back']))
  expect(action?.outcome).toBe('failed')
  expect(action?.details).toEqual([
    'file /etc/hyperkube/containerd/config: its content is another one',
    expect.stringContaining('artifact containerd-1: it is gone'),
  ])
  expect(await textOf('/etc/hyperkube/containerd/config')).toBe('one')
})

test('what is derived is made from what a service writes at its start, not from what lay there', async () => {
  await putOn(host, subnetFile, 'FLANNEL_SUBNET=10.244.9.1/24\n')
  atStart = async (unit) => {
    if (unit === 'flanneld.service') await putOn(host, subnetFile, 'FLANNEL_SUBNET=10.244.3.1/24\n')
  }
  const actions = await performed(stepOf(['rebuild', 'restart'], { component: 'flanneld' }))
  expect(actions.map(({ action, outcome }) => [action, outcome])).toEqual([
    ['restart', 'done'],
    ['rebuild', 'done'],
  ])
  expect(await textOf(conflist)).toBe('10.244.3.0/24\n')
})

test('a service that writes nothing is waited for a while, and what was derived stays', async () => {
  await putOn(host, subnetFile, 'FLANNEL_SUBNET=10.244.9.1/24\n')
  const [, action] = await performed(stepOf(['rebuild', 'restart'], { component: 'flanneld' }))
  expect(action?.details).toEqual([`${conflist} stays as it is: flanneld has not written ${subnetFile} yet`])
  expect(await textOf(conflist)).toBe('10.244.3.0/24\n')
})

test('without a restart it is made from what is there', async () => {
  await rm(host.place(conflist))
  expect(await performed(stepOf(['rebuild'], { component: 'flanneld' }))).toMatchObject([
    { outcome: 'done', details: [`${conflist}, from ${subnetFile}`] },
  ])
  expect(await textOf(conflist)).toBe('10.244.3.0/24\n')
})

test('logs are kept, the last of them with what was done, and not for ever', async () => {
  host.systemd.written.set(
    'containerd.service',
    Array.from({ length: 40 }, (_, index) => `line ${index}\u001b`),
  )
  for (let index = 0; index < 7; index++) {
    host.clock.time += 1000
    const [action] = await performed(stepOf(['capture-logs']))
    expect(action?.details).toHaveLength(11)
    expect(action?.details.at(-1)).toBe('line 39\\u001b')
  }
  const kept = await readdir(host.place(captures))
  expect(kept).toHaveLength(5)
  expect(await textOf(`${captures}/${kept[0]}`)).toContain('line 0\\u001b')
})

test('what is only said is in the journal as well', async () => {
  expect(await performed(stepOf(['give-up'], { code: 'HEAL_GAVE_UP' }))).toMatchObject([
    { action: 'give-up', outcome: 'done', details: [] },
  ])
  expect((await journaled()).at(-1)).toBe('heal containerd: give-up, because healthz: refused')
})

test('an abort is thrown', async () => {
  const stop = new AbortController()
  stop.abort(new Error('it shall end'))
  await expect(performStep(await sceneOf(host, plan), stepOf(['restart']), stop.signal)).rejects.toThrow(
    'it shall end',
  )
})
