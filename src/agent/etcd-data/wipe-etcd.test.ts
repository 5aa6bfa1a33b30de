import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { etcdInitializedFile, etcdDataDirectory } from '../../contract/etcd-restore.ts'
import type { LinuxHost } from '../host/host.ts'
import { type TemporaryHost, createTemporaryHost } from '../host/testing/temporary-host.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
  someRunId,
} from '../apply/testing/fixtures.ts'
import { withCrash } from '../apply/testing/crash-injection.ts'
import { stopComponentServices } from '../reset/stop-services.ts'
import { wipeEtcd } from './wipe-etcd.ts'

const initFile = '/etc/hyperkube/etcd/bootstrap.env'
const root = dirname(etcdDataDirectory)
const { signal } = new AbortController()
const plan = buildPlanWithHost(
  runningComponent('etcd', '1', {
    stage: 'etcd',
    directories: [
      { path: root, owner: 'etcd', mode: '0700' },
      { path: dirname(initFile), owner: 'etcd', mode: '0700' },
    ],
    files: [
      {
        path: initFile,
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
  host = await createTemporaryHost()
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  await mkdir(host.toLocalPath(`${etcdDataDirectory}/member/wal`), { recursive: true })
  await mkdir(host.toLocalPath(dirname(etcdInitializedFile)), { recursive: true })
  await writeFile(host.toLocalPath(etcdInitializedFile), '')
})
afterEach(async () => host[Symbol.asyncDispose]())

const options = (on: LinuxHost) => ({ host: on, name: 'cp1', run: someRunId, emit: () => undefined, signal })

async function isThere(path: string): Promise<boolean> {
  return (await host.files.stat(path)) !== undefined
}

test('the wipe of a running member is refused', async () => {
  await expect(wipeEtcd(options(host))).rejects.toMatchObject({ code: 'ETCD_RESTORE_RUNNING' })
  expect(await isThere(etcdDataDirectory)).toBe(true)
})

test('a wipe moves the data aside and deletes the bootstrap file, which the next apply writes again', async () => {
  await stopComponentServices(options(host), { components: ['etcd'] })
  await wipeEtcd(options(host))
  expect(await readdir(host.toLocalPath(root))).toEqual([expect.stringMatching(/^before-rejoin-/)])
  expect([await isThere(initFile), await isThere(etcdInitializedFile)]).toEqual([false, false])
  await wipeEtcd(options(host))
  await applyAndListOps(host, plan)
  expect(await isThere(initFile)).toBe(true)
})

test('an interrupted wipe continues, and deletes the initialized marker after the bootstrap file', async () => {
  await stopComponentServices(options(host), { components: ['etcd'] })
  for (let ends = 1, isCut = true; isCut; ends++) {
    const crash = { calls: 0, ends }
    const ended = wipeEtcd(options(withCrash(host, crash)))
    isCut = await ended.then(
      () => false,
      () => 2 * crash.calls > ends,
    )
    const isForgottenTooSoon = (await isThere(initFile)) && !(await isThere(etcdInitializedFile))
    expect(isForgottenTooSoon, `cut at ${ends}`).toBe(false)
  }
  expect(await readdir(host.toLocalPath(root))).toHaveLength(1)
  expect([await isThere(initFile), await isThere(etcdInitializedFile)]).toEqual([false, false])
})
