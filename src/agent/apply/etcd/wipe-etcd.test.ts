import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { etcdBorn, etcdData } from '../../../contract/etcd-restore.ts'
import type { LinuxHost } from '../../host/host.ts'
import { type TemporaryHost, temporaryHost } from '../../host/testing/temporary-host.ts'
import { applied, hostPlan, publish, running, someRun } from '../testing/fixtures.ts'
import { mortal } from '../testing/crash-injection.ts'
import { stopServices } from '../reset/stop-services.ts'
import { clearEtcd } from './wipe-etcd.ts'

const birth = '/etc/hyperkube/etcd/birth.env'
const root = dirname(etcdData)
const { signal } = new AbortController()
const plan = hostPlan(
  running('etcd', '1', {
    stage: 'etcd',
    directories: [
      { path: root, owner: 'etcd', mode: '0700' },
      { path: dirname(birth), owner: 'etcd', mode: '0700' },
    ],
    files: [
      {
        path: birth,
        owner: 'etcd',
        mode: '0600',
        content: { kind: 'text', text: 'ETCD_INITIAL_CLUSTER_STATE=new\n' },
        restart: false,
        once: true,
      },
    ],
  }),
)

let host: TemporaryHost & AsyncDisposable

beforeEach(async () => {
  host = await temporaryHost()
  publish(host, plan)
  await applied(host, plan)
  await mkdir(host.place(`${etcdData}/member/wal`), { recursive: true })
  await mkdir(host.place(dirname(etcdBorn)), { recursive: true })
  await writeFile(host.place(etcdBorn), '')
})
afterEach(async () => host[Symbol.asyncDispose]())

const options = (on: LinuxHost) => ({ host: on, name: 'cp1', run: someRun, emit: () => undefined, signal })

async function isThere(path: string): Promise<boolean> {
  return (await host.files.stat(path)) !== undefined
}

test('a member that runs is left alone', async () => {
  await expect(clearEtcd(options(host))).rejects.toMatchObject({ code: 'ETCD_RESTORE_RUNNING' })
  expect(await isThere(etcdData)).toBe(true)
})

test('what it had is moved aside, and how it was born is forgotten, so that a plan says it anew', async () => {
  await stopServices(options(host), { components: ['etcd'] })
  await clearEtcd(options(host))
  expect(await readdir(host.place(root))).toEqual([expect.stringMatching(/^before-rejoin-/)])
  expect([await isThere(birth), await isThere(etcdBorn)]).toEqual([false, false])
  await clearEtcd(options(host))
  await applied(host, plan)
  expect(await isThere(birth)).toBe(true)
})

test('whoever is cut over it goes on, and until the end it is known that a member was born here', async () => {
  await stopServices(options(host), { components: ['etcd'] })
  for (let ends = 1, isCut = true; isCut; ends++) {
    const life = { calls: 0, ends }
    const ended = clearEtcd(options(mortal(host, life)))
    isCut = await ended.then(
      () => false,
      () => 2 * life.calls > ends,
    )
    const isForgottenTooSoon = (await isThere(birth)) && !(await isThere(etcdBorn))
    expect(isForgottenTooSoon, `cut at ${ends}`).toBe(false)
  }
  expect(await readdir(host.place(root))).toHaveLength(1)
  expect([await isThere(birth), await isThere(etcdBorn)]).toEqual([false, false])
})
