import { appendFile, rm, writeFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { NodePlan } from '../../contract/node-plan.ts'
import { digestOf } from '../../../lab/windows/simulator/file-handlers.ts'
import { savedMachine, snapshotOf } from '../../../lab/windows/simulator/machine-state.ts'
import { processOf } from '../../../lab/windows/simulator/programs.ts'
import { advance } from '../../../lab/windows/simulator/time.ts'
import {
  windowsWorker,
  type WindowsWorker,
  windowsWorld,
  type WindowsWorld,
} from '../../../lab/windows/simulator/planned-worker.ts'
import { apply } from './apply.ts'
import { diffHost } from './diff-host.ts'
import { applied, someRun } from './testing/fixtures.ts'
import { mortalWindows } from './testing/crash-injection.ts'
import { reset } from './reset/reset.ts'

let world: WindowsWorld
/** Its plan was applied once, for all who begin with that. */
let brought: WindowsWorker
let worker: WindowsWorker
beforeAll(async () => {
  world = await windowsWorld()
  worker = await windowsWorker(world)
  brought = worker
  await bring()
})
afterAll(async () => brought[Symbol.asyncDispose]())
beforeEach(async () => {
  worker = await windowsWorker(world)
})
afterEach(async () => worker[Symbol.asyncDispose]())

async function bring(plan: NodePlan = worker.plan): Promise<string[]> {
  const { host } = worker
  return applied(host, plan, { certificates: await worker.sign(host, plan) })
}

/** As it is once its plan was applied. */
async function asBrought(): Promise<void> {
  await worker[Symbol.asyncDispose]()
  worker = await windowsWorker(world, brought)
}

async function leave() {
  const { signal } = new AbortController()
  return reset({ host: worker.host, name: 'win1', run: someRun, emit: () => undefined, signal })
}

/** What is there of services, networks and rules. */
function ours() {
  const { services, networks, rules } = worker.machine
  return {
    running: [...services.values()].filter(({ state }) => state === 'Running').map(({ name }) => name),
    networks: networks.map(({ name }) => name),
    rules: [...rules.values()].filter(({ group }) => group === 'hyperkube').length,
  }
}

/** All that others would find on the host, but for what only counts and what a cluster knows. */
function allOf({ machine }: WindowsWorker) {
  const { services, rules, environment, networks, endpoints, policies, adapters, routes } = savedMachine(
    machine,
    new Map(),
  )
  return {
    services,
    rules,
    environment,
    networks,
    endpoints,
    policies,
    adapters: adapters.map(({ downUntil: _until, ...rest }) => rest),
    routes: routes.toSorted((a, b) => (a.destination < b.destination ? -1 : 1)),
    files: machine.files
      .all()
      .map(({ path, directory, content, access }) => ({ path, directory, text: content.toString(), access })),
  }
}

/** What of it is somebody else's. */
function foreignOf(one: WindowsWorker) {
  const all = allOf(one)
  const isForeign = (name: string): boolean => ['hns', 'kubelet-exporter', 'corp-backup'].includes(name)
  return {
    ...all,
    services: all.services.filter(([name]) => isForeign(name)),
    rules: all.rules.filter(([name]) => isForeign(name)),
    networks: all.networks.filter(({ name }) => name === 'nat'),
    endpoints: all.endpoints.filter(({ name }) => name === 'db'),
    policies: [],
    adapters: all.adapters.filter(({ name }) => name === 'Backup network'),
    routes: all.routes.filter(({ interfaceIndex }) => interfaceIndex === 9),
    files: all.files.filter(({ path }) => /^C:.(?:corp|Windows)/.test(path)),
  }
}

const settings = String.raw`C:\hyperkube\settings`
const programs = String.raw`C:\hyperkube\programs`

test('a first run makes all of it in its order, and a second one has nothing to do', async () => {
  const foreign = foreignOf(worker)
  const told = await bring()
  const starts = told.filter((line) => line.startsWith('start '))
  expect(starts).toEqual([
    'start service hyperkube-agent',
    'start service apiserver-proxy',
    'start service containerd',
    'start service kubelet',
    'start service flanneld',
    'start service kube-proxy',
  ])
  expect(ours()).toEqual({
    running: [
      'hns',
      'kubelet-exporter',
      'hyperkube-agent',
      'containerd',
      'apiserver-proxy',
      'kubelet',
      'flanneld',
      'kube-proxy',
    ],
    networks: ['nat', 'hyperkube-switch', 'flannel.4096'],
    rules: 5,
  })
  // Made between the two starts of its stage, from what was written there.
  const config = `create derived-file ${settings}\\kube-proxy\\config.yaml`
  expect(told.indexOf(config)).toBeLessThan(told.indexOf('start service kube-proxy'))
  expect(worker.machine.policies).toMatchObject([{ sourceAddress: '10.244.3.2' }])
  expect(worker.machine.breaks).toBe(1)
  expect(await diffHost(worker.host, worker.plan)).toEqual({ ops: [], findings: [] })
  expect(await bring()).toEqual([])
  expect(foreignOf(worker)).toEqual(foreign)
})

test('what one agent has begun, the next one goes on with', async () => {
  await bring()
  await worker.save()
  const { host, machine } = await worker.again()
  expect(snapshotOf(machine)).toEqual(snapshotOf(worker.machine))
  expect(await diffHost(host, worker.plan)).toEqual({ ops: [], findings: [] })
})

const drifts: Readonly<Record<string, [spoil: (one: WindowsWorker) => Promise<unknown> | void, op: string]>> =
  {
    directory: [
      async ({ host }) => host.operations.files.grant({ path: `${settings}\\kubelet`, sddl: 'O:SYG:SYD:AI' }),
      `change directory ${settings}\\kubelet`,
    ],
    artifact: [
      async ({ place }) => writeFile(place(`${programs}\\cni-plugins-1.9.1\\host-local.exe`), 'another'),
      'change artifact cni-plugins-1.9.1',
    ],
    'an artifact that runs': [
      async ({ place }) => appendFile(place(`${programs}\\shawl-1.9.0\\readme.txt`), 'of nobody'),
      'change artifact shawl-1.9.0',
    ],
    file: [
      async ({ place }) => writeFile(place(`${settings}\\kubelet\\config.yaml`), 'another'),
      `change file ${settings}\\kubelet\\config.yaml`,
    ],
    'derived-file': [
      async ({ place }) => rm(place(String.raw`C:\etc\cni\net.d\10-flannel.conflist`)),
      String.raw`create derived-file C:\etc\cni\net.d\10-flannel.conflist`,
    ],
    'the file that kube-proxy reads': [
      async ({ place }) => writeFile(place(`${settings}\\kube-proxy\\config.yaml`), 'another'),
      `change derived-file ${settings}\\kube-proxy\\config.yaml`,
    ],
    certificate: [
      async ({ place }) => rm(place(`${settings}\\kubelet\\client.key`)),
      `change certificate ${settings}\\kubelet\\client.crt`,
    ],
    'firewall-rule': [
      ({ machine }) => void machine.rules.delete('hyperkube-kubelet'),
      'create firewall-rule hyperkube-kubelet',
    ],
    service: [
      ({ machine }) => void Object.assign(machine.services.get('kubelet') ?? {}, { description: 'another' }),
      'change service kubelet',
    ],
    'a service that was stopped': [
      async ({ host }) => host.operations.services.stop({ name: 'flanneld' }),
      'start service flanneld',
    ],
    image: [({ machine }) => machine.images.clear(), 'create image registry.k8s.io/pause:3.10.2'],
  }

test.each(Object.entries(drifts))('%s that was changed is mended', async (_name, [spoil, op]) => {
  await asBrought()
  await spoil(worker)
  advance(worker.machine, 5000)
  expect(await bring()).toContain(op)
  expect((await diffHost(worker.host, worker.plan)).ops).toEqual([])
  expect(ours().running).toHaveLength(8)
})

test('another version comes beside the former one, which goes when nothing runs from it any more', async () => {
  await asBrought()
  const before = processOf(worker.machine, 'containerd')
  const told = await bring(worker.upgraded)
  expect(told).toContain('create artifact kubelet-1.37.2')
  expect(told).toContain('restart service kubelet')
  expect(told).toContain('remove artifact kubelet-1.37.1')
  expect(told.indexOf('remove artifact kubelet-1.37.1')).toBeGreaterThan(
    told.indexOf('restart service kubelet'),
  )
  const kubelet = processOf(worker.machine, 'kubelet')
  expect(kubelet?.sha256).toBe(digestOf('the program kubelet 1.37.2'))
  // Nobody restarts for a program that is not its own.
  expect(processOf(worker.machine, 'containerd')).toBe(before)
  expect(await diffHost(worker.host, worker.upgraded)).toEqual({ ops: [], findings: [] })
})

test('what still runs from a former version is said, and goes another time', async () => {
  await asBrought()
  const { machine, host } = worker
  const path = `${programs}\\kubelet-1.37.1\\kubelet.exe`
  machine.processes.set(999, {
    id: 999,
    service: 'somebody who still runs it',
    program: path,
    image: machine.files.at(path)?.id ?? '',
    sha256: '',
    damaged: false,
    parent: 1,
    network: undefined,
    startedAt: 0,
  })
  await bring(worker.upgraded)
  const pending = (await diffHost(host, worker.upgraded)).ops
  expect(pending).toMatchObject([{ action: 'remove', target: 'artifact', name: 'kubelet-1.37.1' }])
  machine.processes.delete(999)
  await bring(worker.upgraded)
  expect((await diffHost(host, worker.upgraded)).ops).toEqual([])
})

test('a reset leaves the host as it was', async () => {
  const before = allOf(worker)
  await bring()
  const { report, farewell } = await leave()
  expect(farewell).toBeUndefined()
  expect(report.flatMap(({ held = [] }) => held)).toEqual([])
  advance(worker.machine, 30_000)
  expect(allOf(worker)).toEqual(before)
})

test('what could not go, because the agent itself runs from it, is said', async () => {
  await asBrought()
  const { host, machine } = worker
  const pid = machine.services.get('hyperkube-agent')?.process ?? 0
  const lines: string[] = []
  const { signal } = new AbortController()
  const { report, farewell } = await reset({
    host: { ...host, release: { ...host.release, pid } },
    name: 'win1',
    run: someRun,
    emit: (what) => lines.push(...(what.type === 'log' ? what.lines : [])),
    signal,
  })
  expect(farewell).toBeDefined()
  expect(report.flatMap(({ held = [] }) => held)).toEqual([programs])
  expect(lines.some((line) => line.includes('is still used'))).toBe(true)
  // Nothing but the two programs that run, and the way to them.
  const left = machine.files
    .all()
    .filter(({ path, directory }) => path.startsWith('C:\\hyperkube') && !directory)
  expect(left.map(({ path }) => path)).toEqual([
    `${programs}\\hyperkube-0.1.0\\hyperkube.exe`,
    `${programs}\\shawl-1.9.0\\shawl.exe`,
  ])
})

test('a service of the same name that is somebody else’s is left alone, and said', async () => {
  const { machine } = worker
  const foreign = machine.services.get('kubelet-exporter')
  if (foreign !== undefined) machine.services.set('kubelet', { ...foreign, name: 'kubelet' })
  await expect(bring()).rejects.toMatchObject({ code: 'APPLY_SERVICE_TAKEN', component: 'kubelet' })
  expect(machine.services.get('kubelet')).toMatchObject({
    commandLine: foreign?.commandLine,
    state: 'Running',
  })
})

test.each([151, 397])('killed after every %i calls and gone on with, it ends the same', async (every) => {
  const { host, plan } = worker
  const certificates = await worker.sign(host, plan)
  let lives = 0
  for (let done = false; !done; lives++) {
    const life = { calls: 0, ends: 2 * every + (lives % 2) }
    done = await applied(mortalWindows(host, life), plan, { certificates }).then(
      () => true,
      (error: unknown) => {
        if (life.calls <= every) throw error
        return false
      },
    )
    // Who looks at all that is there needs more than that when it is nearly done.
    every += 20
  }
  expect(lives).toBeGreaterThan(3)
  expect((await diffHost(host, plan)).ops).toEqual([])
  await using other = await windowsWorker(world)
  await applied(other.host, plan, { certificates: await other.sign(other.host, plan) })
  const settled = (one: WindowsWorker) => {
    const { services, rules, networks, routes, files } = allOf(one)
    return {
      services: services.map(([name, { commandLine, state }]) => ({ name, commandLine, state })),
      rules,
      networks: networks.map(({ name, type, subnet }) => ({ name, type, subnet })),
      routes: routes.map(({ destination }) => destination),
      files: files
        .filter(({ path }) => !/state.agent|\.(?:crt|key)$/.test(path))
        .map(({ path, access }) => ({ path, access })),
    }
  }
  expect(settled(worker)).toEqual(settled(other))
})

test('stopped at every op and gone on with, it ends the same', async () => {
  const { host, plan } = worker
  const certificates = await worker.sign(host, plan)
  let runs = 0
  for (let left = true; left; runs++) {
    const stop = new AbortController()
    let ended = 0
    left = await apply({
      host,
      plan,
      through: 'network',
      secrets: new Map(),
      certificates,
      run: someRun,
      // Three at a time: each run looks at everything first.
      emit: (what) => void (what.type === 'op-ended' && ++ended === 3 && stop.abort()),
      signal: stop.signal,
    }).then(
      () => false,
      () => true,
    )
  }
  expect(runs).toBeGreaterThan(20)
  expect(await diffHost(host, plan)).toEqual({ ops: [], findings: [] })
  expect(ours().running).toHaveLength(8)
})
