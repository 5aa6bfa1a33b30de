import { mkdir, rm, writeFile } from 'node:fs/promises'
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
import { createTemporaryHost, type TemporaryHost } from '../host/testing/temporary-host.ts'
import { runReset, runReturn } from './reset.ts'
import { expectReturnAfterCrashes, runOptions } from './testing/adopted-host.ts'
import { readUnfinishedMoves, returnUnfinishedMoves } from './unfinished-moves.ts'

const units = '/etc/systemd/system'
const theirUnits = ['docker.socket', 'docker.service', 'containerd.service']
const [data, kept] = ['/var/lib/containerd', '/var/lib/containerd/before-hyperkube']
const socket = '/run/containerd/containerd.sock'
const address = '/var/lib/cni/networks/cbr0/10.42.0.2'

function buildAdoptedPlan(isKept = true): NodePlan {
  return buildPlanWithHost(
    runningComponent('containerd', '1', {
      replaces: { kind: 'docker', containers: ['kubelet', 'kube-proxy'], kept: isKept },
    }),
    runningComponent('kubelet', '1', {}),
    runningComponent('kube-proxy', '1', { stage: 'network' }),
  )
}

const always = { running: true, restartPolicy: { name: 'always', retries: 0 } } as const
const replaced = { running: false, restartPolicy: { name: 'no', retries: 0 } } as const

let host: TemporaryHost & AsyncDisposable

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(host.toLocalPath(path)), { recursive: true })
  await writeFile(host.toLocalPath(path), text)
}

beforeEach(async () => {
  host = await createTemporaryHost()
  publishPrograms(host, buildAdoptedPlan())
  for (const unit of theirUnits) await write(`${units}/${unit}`, 'theirs')
  await write(`${data}/meta.db`, 'theirs')
  await write(`${data}/content/blob`, 'theirs')
  await write(address, 'pod of Docker')
  await host.services.reload()
  for (const unit of theirUnits) {
    await host.services.show(unit)
    await host.services.enable([unit])
    await host.services.start(unit)
  }
  host.docker.containers.set('kubelet', always).set('kube-proxy', always)
  host.docker.pods = 3
  // Docker responds only while its service runs.
  Object.defineProperty(host.docker, 'available', {
    get: () => host.services.units.get('docker.service')?.state === 'active',
  })
})
afterEach(async () => host[Symbol.asyncDispose]())

async function observe(): Promise<unknown> {
  const states = await host.services.showAll(theirUnits)
  return {
    units: states.map(({ active, enabled }) => ({ active, enabled })),
    containers: Object.fromEntries(host.docker.containers),
    data: (await host.files.list(data))?.map(({ name }) => name).toSorted(),
    metadata: (await host.files.read(`${data}/meta.db`))?.toString(),
  }
}

/** Returns packet rules with the given ones for IPv4, and the list of their changes. */
function recordRuleChanges(rules: string) {
  const changes: string[] = []
  const packets: TemporaryHost['packets'] = {
    ...host.packets,
    rules: async (version) => (version === 4 ? rules : ''),
    changeRules: async (_version, text) => void changes.push(text),
  }
  return { packets, changes }
}

describe('a node whose pods run in Docker', () => {
  test('moves: containers, pods and Docker end, and the data of its containerd is kept apart', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    expect(Object.fromEntries(host.docker.containers)).toEqual({ kubelet: replaced, 'kube-proxy': replaced })
    expect(host.docker.pods).toBe(0)
    expect(await host.files.stat(address)).toBeUndefined()
    const states = await host.services.showAll(theirUnits)
    expect(states.map(({ active, enabled }) => [active, enabled])).toEqual([
      ['inactive', false],
      ['inactive', false],
      ['active', true],
    ])
    expect(host.services.units.get('containerd.service')?.text).not.toBe('theirs')
    expect((await host.files.read(`${kept}/meta.db`))?.toString()).toBe('theirs')
    expect(await applyAndListOps(host, buildAdoptedPlan())).toEqual([])
  })

  test('returns: units, containers and data are as before, without data of hyperkube', async () => {
    const original = await observe()
    await applyAndListOps(host, buildAdoptedPlan())
    await write(`${data}/meta.db`, 'ours')
    await write(`${data}/snapshots/1`, 'ours')
    await write(kubeletShutdownFile, 'written by the kubelet')
    await runReturn({ ...runOptions, host })
    expect(await observe()).toEqual(original)
    expect(host.services.units.get('containerd.service')?.text).toBe('theirs')
    expect(await host.files.stat(kubeletShutdownFile)).toBeUndefined()
  })

  test('rules for ports of hosts end with the pods, on the way there and back', async () => {
    const rules = `*nat
:CNI-DN-0a1b - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A CNI-HOSTPORT-DNAT -p tcp -m multiport --dports 80,443 -j CNI-DN-0a1b
-A CNI-DN-0a1b -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.42.0.2:80
COMMIT
`
    const { packets, changes } = recordRuleChanges(rules)
    await applyAndListOps({ ...host, packets }, buildAdoptedPlan())
    expect(changes).toEqual([expect.stringContaining('-X CNI-DN-0a1b')])
    await runReturn({ ...runOptions, host: { ...host, packets } })
    expect(changes).toHaveLength(2)
  })

  test.each([
    ['a return keeps the chains of kube-proxy, which that of RKE1 takes over', true],
    ['a reset after the commit removes the chains of kube-proxy', false],
  ])('%s', async (_, isKept) => {
    const rules = `*nat
:KUBE-SERVICES - [0:0]
-A PREROUTING -j KUBE-SERVICES
COMMIT
`
    const { packets, changes } = recordRuleChanges(rules)
    const options = { ...runOptions, host: { ...host, packets } }
    await applyAndListOps(options.host, buildAdoptedPlan(isKept))
    await (isKept ? runReturn(options) : runReset(options))
    expect(changes.some((text) => text.includes('-X KUBE-SERVICES'))).toBe(!isKept)
  })

  test('moves without docker.socket, which not every distribution has', async () => {
    const services = { ...host.services }
    await host.services.stop('docker.socket')
    await rm(host.toLocalPath(`${units}/docker.socket`))
    host.services.disable = async (unit) => {
      if (unit === 'docker.socket') throw new Error(`Unit file ${unit} does not exist.`)
      await services.disable(unit)
    }
    await applyAndListOps(host, buildAdoptedPlan())
    expect((await host.services.show('docker.service')).enabled).toBe(false)
  })

  test('addresses of pods of hyperkube survive if an administrator starts Docker', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    await write(address, 'pod of hyperkube')
    await host.services.start('docker.service')
    expect(await applyAndListOps(host, buildAdoptedPlan())).toContain('change predecessor docker')
    expect((await host.services.show('docker.service')).active).toBe('inactive')
    expect(await host.files.stat(address)).toBeDefined()
  })

  test('can be interrupted at any point of the move and of the rollback', { timeout: 60_000 }, async () => {
    await expectReturnAfterCrashes({
      ...{ host, observe, plan: buildAdoptedPlan(), distance: 19 },
      async afterMove() {
        expect((await host.files.read(`${kept}/meta.db`))?.toString()).toBe('theirs')
        await write(`${data}/meta.db`, 'ours')
      },
    })
  })

  test('returns by itself, and hyperkube has no kubelet beside that of Docker then', async () => {
    host.services.broken.add('containerd.service')
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
    expect(await readUnfinishedMoves(host)).toEqual(['containerd', 'kubelet'])
    host.services.broken.clear()
    await returnUnfinishedMoves({ ...runOptions, host })
    expect(host.docker.containers.get('kubelet')).toEqual(always)
    expect(host.services.units.get('kubelet.service')?.text).toBeUndefined()
  })

  test('returns by itself if containerd runs but the kubelet never did', async () => {
    host.services.broken.add('kubelet.service')
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
    expect(await readUnfinishedMoves(host)).toEqual(['containerd', 'kubelet'])
    host.services.broken.clear()
    await returnUnfinishedMoves({ ...runOptions, host })
    expect(host.docker.containers.get('kubelet')).toEqual(always)
    expect(host.services.units.get('containerd.service')?.text).toBe('theirs')
  })

  test('returns by itself if it was interrupted before kube-proxy started', async () => {
    await applyAndListOps(host, buildAdoptedPlan(), { through: 'node' })
    expect(await readUnfinishedMoves(host)).toEqual(['containerd', 'kubelet'])
    await applyAndListOps(host, buildAdoptedPlan())
    expect(await readUnfinishedMoves(host)).toEqual([])
  })

  test('does not return if only a component fails that Docker did not run', async () => {
    const plan = buildAdoptedPlan()
    await applyAndListOps(host, plan)
    const further = { ...plan, components: [...plan.components, runningComponent('node-agent', '1', {})] }
    publishPrograms(host, further)
    host.services.broken.add('node-agent.service')
    await expect(applyAndListOps(host, further)).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
    expect(await readUnfinishedMoves(host)).toEqual([])
  })

  test('moves with the snapshot container that RKE1 starts by default, and returns to it', async () => {
    host.docker.containers.set('etcd-rolling-snapshots', always)
    const original = await observe()
    await applyAndListOps(host, buildAdoptedPlan())
    expect(host.docker.containers.get('etcd-rolling-snapshots')).toEqual(replaced)
    await runReturn({ ...runOptions, host })
    expect(await observe()).toEqual(original)
  })

  test('releases the addresses of pods also if the run was interrupted after their end', async () => {
    host.docker.removePods = async () => {
      host.docker.pods = 0
      throw new Error('interrupted')
    }
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toThrow('docker')
    host.docker.removePods = async () => 0
    await applyAndListOps(host, buildAdoptedPlan())
    expect(await host.files.stat(address)).toBeUndefined()
  })

  describe('a power cut while the data of containerd moves, after which the host starts that containerd', () => {
    /** Loses power at a rename. Then containerd of Docker starts and creates data. */
    async function losePower(at: { readonly target: string; readonly isDone: boolean }): Promise<void> {
      const rename: typeof host.files.rename = async (from, to) => {
        if (to !== at.target || at.isDone) await host.files.rename(from, to)
        if (to === at.target) throw new Error('power cut')
      }
      const failing = { ...host, files: { ...host.files, rename } }
      await expect(applyAndListOps(failing, buildAdoptedPlan())).rejects.toThrow('docker')
      await write(`${data}/content/new`, 'empty')
      await host.services.start('containerd.service')
    }

    test('up continues, and keeps the data from before', async () => {
      const original = await observe()
      await losePower({ target: `${kept}.new/meta.db`, isDone: false })
      await applyAndListOps(host, buildAdoptedPlan())
      expect((await host.files.list(`${kept}/content`))?.map(({ name }) => name)).toEqual(['blob'])
      await runReturn({ ...runOptions, host })
      expect(await observe()).toEqual(original)
    })

    test.each([
      ['a part of the data', { target: `${kept}.new/meta.db`, isDone: false }],
      ['all data', { target: kept, isDone: true }],
    ])('containerd does not run while %s returns', async (_, moment) => {
      const original = await observe()
      await losePower(moment)
      const before = host.services.units.get('containerd.service')?.starts ?? 0
      await returnUnfinishedMoves({ ...runOptions, host })
      expect(await observe()).toEqual(original)
      expect((await host.files.list(`${data}/content`))?.map(({ name }) => name)).toEqual(['blob'])
      expect(host.services.units.get('containerd.service')?.starts).toBe(before + 1)
    })
  })

  test('does not start a kubelet beside that of a Docker that has crashed', async () => {
    host.docker.stuck.add('kubelet')
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_RUNS',
    })
    await host.services.stop('docker.service')
    const shim = ['/usr/bin/containerd-shim-runc-v2', '-namespace', 'moby', '-id', 'a1', '-address', socket]
    const list = async () => [{ pid: 7, parent: 1, argv: shim }]
    const crashed = { ...host, processes: { ...host.processes, list } }
    await expect(applyAndListOps(crashed, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_NO_DOCKER',
      message: expect.stringContaining('still run'),
    })
    expect(host.services.units.get('containerd.service')?.text).toBe('theirs')
  })

  test('does not move if Docker runs as another service than docker.service', async () => {
    await host.services.stop('docker.service')
    Object.defineProperty(host.docker, 'available', { value: true })
    const original = await observe()
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_NO_DOCKER',
    })
    expect(await observe()).toEqual(original)
  })

  test('stops no containers of others that were started after the move', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    await host.services.start('docker.service')
    host.docker.containers.set('database', always)
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_OTHER_CONTAINERS',
    })
    expect((await host.services.show('docker.service')).active).toBe('active')
  })

  test('does not move if Docker runs containers of others, and nothing has changed then', async () => {
    host.docker.containers.set('database', always)
    const original = await observe()
    await expect(applyAndListOps(host, buildAdoptedPlan())).rejects.toMatchObject({
      code: 'PREDECESSOR_OTHER_CONTAINERS',
    })
    expect(await observe()).toEqual(original)
  })

  test('loses the kept data with the commit, and a reset restores nothing then', async () => {
    await applyAndListOps(host, buildAdoptedPlan())
    expect(await applyAndListOps(host, buildAdoptedPlan(false))).toEqual(['change predecessor docker'])
    expect(await host.files.list(kept)).toEqual([])
    expect(await applyAndListOps(host, buildAdoptedPlan(false))).toEqual([])
    await runReset({ ...runOptions, host })
    expect((await host.services.show('docker.service')).active).toBe('inactive')
  })
})
