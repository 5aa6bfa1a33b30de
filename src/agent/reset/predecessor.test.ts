import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { kubeletShutdownFile } from '../../contract/host-paths.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
} from '../apply/testing/fixtures.ts'
import type { HostProcess, LinuxHost } from '../host/host.ts'
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { readLedger } from '../records/ledger.ts'
import { listFilesBelow } from '../resources/artifact-files.ts'
import { runReset, runReturn } from './reset.ts'
import { expectReturnAfterCrashes, runOptions } from './testing/adopted-host.ts'
import { readUnfinishedMoves, returnUnfinishedMoves } from './unfinished-moves.ts'

const manifest = '/etc/kubernetes/manifests/etcd.yaml'
const keptManifest = '/etc/kubernetes/before-hyperkube/etcd.yaml'
const [before, after] = ['/var/lib/etcd/member', '/var/lib/etcd/data/member']
const units = '/etc/systemd/system'
const dropIns = `${units}/kubelet.service.d`
const packaged = '/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf'

function buildAdoptedPlan(kept = true): NodePlan {
  return buildPlanWithHost(
    runningComponent('etcd', '1', {
      stage: 'etcd',
      directories: [
        { path: '/etc/hyperkube/etcd', owner: 'etcd', mode: '0700' },
        { path: '/var/lib/etcd', owner: 'etcd', mode: '0700' },
      ],
      replaces: {
        kind: 'static-pod',
        manifest,
        program: 'etcd',
        data: { from: before, to: after, owner: 'etcd' },
        kept,
      },
    }),
    runningComponent('kubelet', '1', { replaces: { kind: 'unit', unit: 'kubelet.service', kept } }),
  )
}

let host: LinuxHost &
  Pick<TemporaryHost, 'toLocalPath' | 'services' | 'users' | 'clock' | 'remoteFiles'> &
  AsyncDisposable
/** Number of queries after which the kubelet has ended the pod. */
let remainingQueries = 2

beforeEach(async () => {
  const created = await createTemporaryHost()
  remainingQueries = 2
  const pod: HostProcess = {
    pid: 2,
    parent: 1,
    argv: ['etcd', '--cert-file=/etc/kubernetes/pki/etcd/server.crt'],
  }
  const ofUser: HostProcess = { pid: 3, parent: 1, argv: ['/usr/local/bin/etcd', '--data-dir=/data'] }
  const own: HostProcess = {
    pid: 4,
    parent: 1,
    argv: ['/opt/hyperkube/etcd-1/etcd', '--old=/etc/kubernetes/'],
  }
  const processes: LinuxHost['processes'] = {
    async list() {
      const runs = (await created.files.stat(manifest)) !== undefined || remainingQueries-- > 0
      return [...(runs ? [pod] : []), ofUser, own]
    },
    kill: async () => undefined,
  }
  host = { ...created, processes }
  publishPrograms(created, buildAdoptedPlan())
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(host.toLocalPath(path)), { recursive: true })
    await writeFile(host.toLocalPath(path), text)
  }
  await write(manifest, 'kind: Pod')
  await write(`${before}/wal/0.wal`, 'wal')
  await write(`${before}/snap/db`, 'db')
  await write(`${units}/kubelet.service`, 'theirs')
  await write(packaged, '[Service]')
  await write(`${dropIns}/20-own.conf`, '[Service]')
  await symlink('/dev/null', host.toLocalPath(`${dropIns}/30-masked.conf`))
  await host.services.reload()
  await host.services.enable(['kubelet.service'])
  await host.services.start('kubelet.service')
})
afterEach(async () => host[Symbol.asyncDispose]())

async function observe(): Promise<unknown> {
  const paths = await listFilesBelow(host.files, '/')
  const entries = paths.map(async (path) => {
    const facts = await host.files.stat(`/${path}`)
    const content =
      facts?.kind === 'link' ? await host.files.readLink(`/${path}`) : await host.files.digest(`/${path}`)
    return [path, facts?.uid, facts?.mode, content]
  })
  const directories = [dirname(kubeletShutdownFile), '/etc/kubernetes', '/var/lib/etcd', before, dropIns].map(
    async (path) => {
      const facts = await host.files.stat(path)
      return [path, facts?.kind, facts?.uid, facts?.mode]
    },
  )
  const { enabled, active } = await host.services.show('kubelet.service')
  return {
    files: await Promise.all(entries),
    directories: await Promise.all(directories),
    kubelet: { enabled, active, unit: host.services.units.get('kubelet.service')?.text },
    users: [...host.users.names],
  }
}

describe('a host of an adopted cluster', () => {
  test('moves: the pod ends, its data changes the owner, drop-ins do not apply any more', async () => {
    const ops = await applyAndListOps(host, buildAdoptedPlan())
    const names = ['predecessor', 'service'].map((target) =>
      ops.findIndex((op) => op.startsWith(`create ${target}`)),
    )
    expect(names[0]).toBeLessThan(names[1] ?? 0)
    const { uid } = (await host.users.find('etcd')) ?? {}
    expect(await host.files.stat(manifest)).toBeUndefined()
    expect((await host.files.read(keptManifest))?.toString()).toBe('kind: Pod')
    expect(await host.files.stat(before)).toBeUndefined()
    expect((await host.files.stat(`${after}/wal/0.wal`))?.uid).toBe(uid)
    expect((await host.files.stat(after))?.uid).toBe(uid)
    expect(await host.files.readLink(`${dropIns}/10-kubeadm.conf`)).toBe('/dev/null')
    expect(await host.files.stat(`${dropIns}/20-own.conf`)).toBeUndefined()
    expect(host.services.units.get('kubelet.service')).toMatchObject({
      state: 'active',
      text: expect.stringContaining('/opt/hyperkube/kubelet-1'),
    })
    expect(await applyAndListOps(host, buildAdoptedPlan())).toEqual([])
  })

  test('ends the API server before its etcd, so that no request waits for etcd', async () => {
    const program = 'kube-apiserver'
    const pod = {
      kind: 'static-pod',
      manifest: `/etc/kubernetes/manifests/${program}.yaml`,
      program,
    } as const
    const server = runningComponent(program, '1', {
      stage: 'api',
      needs: ['etcd'],
      replaces: { ...pod, kept: true },
    })
    const [hostPart, etcd, ...others] = buildAdoptedPlan().components
    if (hostPart === undefined || etcd === undefined) throw new Error('the plan has no etcd')
    const plan = { ...buildAdoptedPlan(), components: [hostPart, etcd, server, ...others] }
    publishPrograms(host, plan)
    await writeFile(host.toLocalPath(pod.manifest), 'kind: Pod')
    const ops = await applyAndListOps(host, plan)
    const ended = ops.filter((op) => op.startsWith('create predecessor /etc/kubernetes/manifests'))
    expect(ended.map((op) => op.split('/').at(-1))).toEqual([
      expect.stringContaining('kube-apiserver.yaml'),
      expect.stringContaining('etcd.yaml'),
    ])
    const indexOf = (start: string): number => ops.findIndex((op) => op.startsWith(start))
    expect(indexOf('start service etcd')).toBeLessThan(indexOf('start service kube-apiserver'))
  })

  test('returns: everything is as before, and the previous kubelet runs', async () => {
    const original = await observe()
    await applyAndListOps(host, buildAdoptedPlan())
    await writeFile(host.toLocalPath(`${after}/wal/1.wal`), 'written by hyperkube')
    await mkdir(host.toLocalPath(dirname(kubeletShutdownFile)), { recursive: true })
    await writeFile(host.toLocalPath(kubeletShutdownFile), 'written by the kubelet')
    await runReturn({ ...runOptions, host })
    expect((await host.files.read(`${before}/wal/1.wal`))?.toString()).toBe('written by hyperkube')
    await host.files.remove(`${before}/wal/1.wal`)
    expect(await observe()).toEqual(original)
  })

  test('returns one stage if the plan drops its components', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    const plan = buildAdoptedPlan()
    const rollback = { ...plan, components: plan.components.filter(({ stage }) => stage !== 'etcd') }
    await applyAndListOps(host, rollback, { through: 'etcd' })
    expect((await host.files.read(manifest))?.toString()).toBe('kind: Pod')
    expect((await host.files.read(`${before}/snap/db`))?.toString()).toBe('db')
    expect(host.services.units.get('kubelet.service')?.text).toContain('/opt/hyperkube/kubelet-1')
  })

  test('can be interrupted at any point of the move and of the rollback', { timeout: 60_000 }, async () => {
    await expectReturnAfterCrashes({
      ...{ host, observe, plan: buildAdoptedPlan(), distance: 23 },
      beforeRetry: () => (remainingQueries = 2),
      afterMove: async () => expect((await host.files.read(`${after}/snap/db`))?.toString()).toBe('db'),
    })
  })

  test('returns by itself to the components that it has ended but not replaced', async () => {
    host.services.broken.add('etcd.service')
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
    expect(await host.files.stat(manifest)).toBeUndefined()
    expect(await readUnfinishedMoves(host)).toEqual(['etcd'])
    await returnUnfinishedMoves({ ...runOptions, host })
    expect((await host.files.read(manifest))?.toString()).toBe('kind: Pod')
    expect((await host.files.read(`${before}/snap/db`))?.toString()).toBe('db')
    expect(await readUnfinishedMoves(host)).toEqual([])
    host.services.broken.clear()
    remainingQueries = 2
    await applyAndListOps(host, buildAdoptedPlan())
    expect(await readUnfinishedMoves(host)).toEqual([])
    expect((await host.files.read(`${after}/snap/db`))?.toString()).toBe('db')
  })

  test('cannot be rolled back after the commit, and a reset restores nothing then', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    expect(await applyAndListOps(host, buildAdoptedPlan(false))).toEqual([
      `change predecessor ${manifest}`,
      'change predecessor kubelet.service',
    ])
    expect(await host.files.stat(dirname(keptManifest))).toBeUndefined()
    expect(await host.files.stat(`${dropIns}/20-own.conf.before-hyperkube`)).toBeUndefined()
    expect(await applyAndListOps(host, buildAdoptedPlan(false))).toEqual([])
    await runReset({ ...runOptions, host })
    expect(await host.files.stat(manifest)).toBeUndefined()
    expect((await host.services.show('kubelet.service')).active).toBe('inactive')
    expect(await host.files.stat(`${dropIns}/10-kubeadm.conf`)).toBeUndefined()
  })

  test('does not move if its pod does not end, and can return', async () => {
    remainingQueries = Number.MAX_SAFE_INTEGER
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_RUNS',
    })
    expect(await host.files.stat(before)).toBeDefined()
    await runReturn({ ...runOptions, host })
    expect((await host.files.read(manifest))?.toString()).toBe('kind: Pod')
  })

  test('does not move if a file that a rollback needs is missing', async () => {
    await host.files.removeTree(before)
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_MISSING',
    })
    expect(await host.files.stat(manifest)).toBeDefined()
    expect((await readLedger(host))?.resources.some(({ target }) => target === 'predecessor')).toBe(false)
  })

  test('does not move if its data already exists at the new path', async () => {
    await mkdir(host.toLocalPath(after), { recursive: true })
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_DATA_TWICE',
    })
    // Its pod was not ended, so the host still runs etcd.
    expect((await host.files.read(manifest))?.toString()).toBe('kind: Pod')
  })

  test('refuses to return after the commit, and removes nothing', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    await applyAndListOps(host, buildAdoptedPlan(false))
    await expect(runReturn({ ...runOptions, host })).rejects.toMatchObject({ code: 'ADOPT_COMMITTED' })
    expect((await host.services.show('etcd.service')).active).toBe('active')
    expect(await applyAndListOps(host, buildAdoptedPlan(false))).toEqual([])
  })

  test('a plan from before the commit does not make a rollback look possible again', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    await applyAndListOps(host, buildAdoptedPlan(false))
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({ code: 'ADOPT_COMMITTED' })
    const resources = (await readLedger(host))?.resources ?? []
    expect(resources.flatMap((one) => (one.target === 'predecessor' ? [one.kept] : []))).toEqual([
      false,
      false,
    ])
  })
})
