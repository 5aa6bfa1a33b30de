import { mkdir, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NodePlan } from '../../contract/node-plan.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
} from '../apply/testing/fixtures.ts'
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { readLedger } from '../records/ledger.ts'
import { runReset, runReturn } from './reset.ts'
import { expectReturnAfterCrashes, runOptions } from './testing/adopted-host.ts'
import { readUnfinishedMoves, returnUnfinishedMoves } from './unfinished-moves.ts'

const [before, after] = ['/var/lib/etcd/member', '/var/lib/etcd/data/member']

function buildAdoptedPlan(kept = true): NodePlan {
  return buildPlanWithHost(
    runningComponent('etcd', '1', {
      stage: 'etcd',
      directories: [
        { path: '/etc/hyperkube/etcd', owner: 'etcd', mode: '0700' },
        { path: '/var/lib/etcd', owner: 'etcd', mode: '0700' },
      ],
      replaces: {
        kind: 'container',
        container: 'etcd',
        data: { from: before, to: after, owner: 'etcd' },
        kept,
      },
    }),
    runningComponent('kube-scheduler', '1', {
      replaces: { kind: 'container', container: 'kube-scheduler', kept },
    }),
  )
}

const etcd = { running: true, restartPolicy: { name: 'always', retries: 0 } } as const
const scheduler = { running: true, restartPolicy: { name: 'on-failure', retries: 3 } } as const
const replaced = { running: false, restartPolicy: { name: 'no', retries: 0 } } as const

let host: TemporaryHost & AsyncDisposable

beforeEach(async () => {
  host = await createTemporaryHost()
  publishPrograms(host, buildAdoptedPlan())
  await mkdir(host.toLocalPath(`${before}/snap`), { recursive: true })
  await writeFile(host.toLocalPath(`${before}/snap/db`), 'db')
  host.docker.containers.set('etcd', etcd).set('kube-scheduler', scheduler)
})
afterEach(async () => host[Symbol.asyncDispose]())

async function observe(): Promise<unknown> {
  const facts = await Promise.all(
    ['/var/lib/etcd', before, `${before}/snap/db`, after].map(async (path) => host.files.stat(path)),
  )
  return {
    owners: facts.map((one) => one && [one.kind, one.uid, one.mode]),
    containers: Object.fromEntries(host.docker.containers),
  }
}

describe('a host whose components run in Docker', () => {
  test('moves: containers stop and stay stopped, the data changes the owner', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    expect(Object.fromEntries(host.docker.containers)).toEqual({ etcd: replaced, 'kube-scheduler': replaced })
    const { uid } = (await host.users.find('etcd')) ?? {}
    expect(await host.files.stat(before)).toBeUndefined()
    expect((await host.files.stat(`${after}/snap/db`))?.uid).toBe(uid)
    expect(host.services.units.get('kube-scheduler.service')?.state).toBe('active')
    expect(await applyAndListOps(host, buildAdoptedPlan())).toEqual([])
  })

  test('returns: restart policies, states and data are as before', async () => {
    host.docker.containers.set('kube-scheduler', { ...scheduler, running: false })
    const original = await observe()
    await applyAndListOps(host, buildAdoptedPlan())
    await runReturn({ ...runOptions, host })
    expect(await observe()).toEqual(original)
  })

  test('returns one stage if the plan drops its components', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    const plan = buildAdoptedPlan()
    const rollback = { ...plan, components: plan.components.filter(({ stage }) => stage !== 'etcd') }
    await applyAndListOps(host, rollback, { through: 'etcd' })
    expect(Object.fromEntries(host.docker.containers)).toEqual({ etcd, 'kube-scheduler': replaced })
    expect((await host.files.read(`${before}/snap/db`))?.toString()).toBe('db')
  })

  test('can be interrupted at any point of the move and of the rollback', { timeout: 60_000 }, async () => {
    await expectReturnAfterCrashes({
      ...{ host, observe, plan: buildAdoptedPlan(), distance: 23 },
      afterMove: async () => expect((await host.files.read(`${after}/snap/db`))?.toString()).toBe('db'),
    })
  })

  test('returns by itself to the containers that it has stopped but not replaced', async () => {
    host.services.broken.add('etcd.service')
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
    expect(host.docker.containers.get('etcd')).toEqual(replaced)
    expect(await readUnfinishedMoves(host)).toEqual(['etcd'])
    await returnUnfinishedMoves({ ...runOptions, host })
    expect(host.docker.containers.get('etcd')).toEqual(etcd)
    expect((await host.files.read(`${before}/snap/db`))?.toString()).toBe('db')
  })

  test('loses its containers with the commit, and a reset restores nothing then', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    expect(await applyAndListOps(host, buildAdoptedPlan(false))).toEqual([
      'change predecessor etcd',
      'change predecessor kube-scheduler',
    ])
    expect([...host.docker.containers]).toEqual([])
    host.docker.available = false
    expect(await applyAndListOps(host, buildAdoptedPlan(false))).toEqual([])
    await runReset({ ...runOptions, host })
  })

  test('stops a container again that an administrator has started', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    host.docker.containers.set('kube-scheduler', scheduler)
    expect(await applyAndListOps(host, buildAdoptedPlan())).toContain('change predecessor kube-scheduler')
    expect(host.docker.containers.get('kube-scheduler')).toEqual(replaced)
  })

  test('does not move if a container does not stop, and can return', async () => {
    host.docker.stuck.add('etcd')
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_RUNS',
    })
    expect(await host.files.stat(before)).toBeDefined()
    await runReturn({ ...runOptions, host })
    expect(host.docker.containers.get('etcd')).toEqual(etcd)
  })

  test('does not move if the container or its data is missing, or Docker does not respond', async () => {
    host.docker.available = false
    const move = async (): Promise<unknown> => applyAndListOps(host, buildAdoptedPlan())
    await expect(move()).rejects.toMatchObject({ code: 'PREDECESSOR_NO_DOCKER' })
    host.docker.available = true
    host.docker.containers.delete('etcd')
    await expect(move()).rejects.toMatchObject({ code: 'PREDECESSOR_MISSING' })
    host.docker.containers.set('etcd', etcd)
    await host.files.removeTree(before)
    await expect(move()).rejects.toMatchObject({ code: 'PREDECESSOR_MISSING' })
    expect(host.docker.containers.get('etcd')).toEqual(etcd)
    expect((await readLedger(host))?.resources.some(({ target }) => target === 'predecessor')).toBe(false)
  })

  test('takes no data of a container that outlived Docker', async () => {
    host.docker.stuck.add('etcd')
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_RUNS',
    })
    host.docker.available = false
    const shim = ['/usr/bin/containerd-shim-runc-v2', '-namespace', 'moby', '-id', 'a1']
    const list = async () => [{ pid: 7, parent: 1, argv: shim }]
    const crashed = { ...host, processes: { ...host.processes, list } }
    await expect(applyAndListOps(crashed, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_NO_DOCKER',
    })
    expect(await host.files.stat(before)).toBeDefined()
  })

  test('does not return to other data than that of hyperkube', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    await mkdir(host.toLocalPath(before), { recursive: true })
    await expect(runReturn({ ...runOptions, host })).rejects.toMatchObject({ code: 'PREDECESSOR_DATA_TWICE' })
    expect(host.docker.containers.get('etcd')).toEqual(replaced)
    await host.files.removeTree(before)
    await runReturn({ ...runOptions, host })
    expect((await host.files.read(`${before}/snap/db`))?.toString()).toBe('db')
    expect(host.docker.containers.get('etcd')).toEqual(etcd)
  })

  test('does not return while Docker does not respond', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    host.docker.available = false
    await expect(runReturn({ ...runOptions, host })).rejects.toMatchObject({
      code: 'PREDECESSOR_NO_DOCKER',
    })
    host.docker.available = true
    await runReturn({ ...runOptions, host })
    expect(Object.fromEntries(host.docker.containers)).toEqual({ etcd, 'kube-scheduler': scheduler })
  })
})
