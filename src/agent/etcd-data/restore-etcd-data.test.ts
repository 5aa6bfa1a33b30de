import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { uploadedFilePath, uploadDirectory } from '../../contract/host-paths.ts'
import { etcdDataDirectory } from '../../contract/etcd-restore.ts'
import type { LinuxHost } from '../host/host.ts'
import { type TemporaryHost, createTemporaryHost } from '../host/testing/temporary-host.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  publishPrograms,
  runningComponent,
  someRunId,
} from '../apply/testing/fixtures.ts'
import { readJournal } from '../records/journal.ts'
import { Killed, withCrash } from '../apply/testing/crash-injection.ts'
import { stopComponentServices } from '../reset/stop-services.ts'
import { endEtcdRestore, restoreEtcdData, findActiveRestore } from './restore-etcd-data.ts'

const root = dirname(etcdDataDirectory)
const first = '11111111-1111-4111-8111-111111111111'
const second = '22222222-2222-4222-8222-222222222222'
const { signal } = new AbortController()
const plan = buildPlanWithHost(
  runningComponent('etcd', '1', {
    stage: 'etcd',
    directories: [
      { path: root, owner: 'etcd', mode: '0700' },
      { path: '/etc/hyperkube/etcd', owner: 'etcd', mode: '0700' },
    ],
  }),
)

let host: TemporaryHost & AsyncDisposable

beforeEach(async () => {
  host = await createTemporaryHost()
  publishPrograms(host, plan)
  await applyAndListOps(host, plan)
  await haveData('of before')
})
afterEach(async () => host[Symbol.asyncDispose]())

async function haveData(text: string): Promise<void> {
  await mkdir(host.toLocalPath(`${etcdDataDirectory}/member/snap`), { recursive: true })
  await writeFile(host.toLocalPath(`${etcdDataDirectory}/member/snap/db`), text)
}

/** Uploads an archive of a data directory to the host and returns its digest. */
async function upload(text: string): Promise<string> {
  const made = host.toLocalPath('/made')
  await mkdir(`${made}/member/snap`, { recursive: true })
  await writeFile(`${made}/member/snap/db`, text)
  const bytes = execFileSync('tar', ['-czf', '-', '-C', made, 'member'])
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const path = host.toLocalPath(`${uploadDirectory}/${uploadedFilePath(sha256)}`)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, bytes)
  return sha256
}

async function runRestore(id: string, sha256: string, on: LinuxHost = host): Promise<string[]> {
  const outcomes: string[] = []
  await restoreEtcdData(
    {
      host: on,
      name: 'cp1',
      run: someRunId,
      emit: (what) => void (what.type === 'op-ended' && outcomes.push(what.result.outcome)),
      signal,
    },
    { restore: restoreOf(id), sha256 },
  )
  return outcomes
}

function restoreOf(id: string) {
  return { id, snapshot: 'a'.repeat(64), members: ['cp1=https://10.0.0.1:2380'] }
}

async function stop(): Promise<void> {
  await stopComponentServices(
    { host, name: 'cp1', run: someRunId, emit: () => undefined, signal },
    { components: ['etcd'] },
  )
}

async function dataNow(directory = etcdDataDirectory): Promise<string> {
  return readFile(host.toLocalPath(`${directory}/member/snap/db`), 'utf8')
}

async function listMoved(): Promise<string[]> {
  return (await readdir(host.toLocalPath(root))).toSorted()
}

test('a restore is refused while etcd runs', async () => {
  await expect(runRestore(first, await upload('restored'))).rejects.toMatchObject({
    code: 'ETCD_RESTORE_RUNNING',
  })
  expect([await dataNow(), await listMoved(), await findActiveRestore(host)]).toEqual([
    'of before',
    ['data'],
    undefined,
  ])
})

test('data is replaced, the current data is kept, and only the etcd user can read it', async () => {
  await stop()
  const sha256 = await upload('restored')
  expect(await runRestore(first, sha256)).toEqual(['done'])
  expect([await dataNow(), await listMoved()]).toEqual([
    'restored',
    ['before-restore-2027-01-01T00-00-00.000Z', 'data'],
  ])
  expect(await dataNow(`${root}/before-restore-2027-01-01T00-00-00.000Z`)).toBe('of before')
  const owner = await host.users.find('etcd')
  for (const [path, mode] of [
    [etcdDataDirectory, 0o700],
    [`${etcdDataDirectory}/member/snap`, 0o700],
    [`${etcdDataDirectory}/member/snap/db`, 0o600],
  ] as const) {
    const facts = await stat(host.toLocalPath(path))
    expect([facts.mode & 0o777, facts.uid], path).toEqual([mode, owner?.uid])
  }
  expect(await host.files.stat(`${uploadDirectory}/${uploadedFilePath(sha256)}`)).toBeUndefined()
  expect((await readJournal(host)).at(-1)?.body).toEqual({ type: 'run-ended', outcome: 'done' })
})

test('a restore replaces the data once, and stays active until an operator ends it', async () => {
  await stop()
  const sha256 = await upload('restored')
  await runRestore(first, sha256)
  expect(await findActiveRestore(host)).toEqual({ ...restoreOf(first), state: 'data-restored' })
  expect(await runRestore(first, sha256)).toEqual(['unchanged'])
  await endEtcdRestore(host, second)
  expect(await findActiveRestore(host)).toBeDefined()
  await endEtcdRestore(host, first)
  expect(await findActiveRestore(host)).toBeUndefined()
})

test('an archive that is missing or has a wrong digest is refused, and nothing changes', async () => {
  await stop()
  await expect(runRestore(first, 'b'.repeat(64))).rejects.toMatchObject({ code: 'ETCD_RESTORE_NOT_UPLOADED' })
  const sha256 = await upload('restored')
  await writeFile(host.toLocalPath(`${uploadDirectory}/${uploadedFilePath(sha256)}`), 'something else')
  await expect(runRestore(first, sha256)).rejects.toMatchObject({ code: 'ETCD_RESTORE_NOT_UPLOADED' })
  expect([await dataNow(), await listMoved()]).toEqual(['of before', ['data']])
})

test('another restore replaces an unfinished one, and the data from before both is kept', async () => {
  await stop()
  await runRestore(first, await upload('restored'))
  host.clock.time += 1000
  await runRestore(second, await upload('of another'))
  expect([await dataNow(), await listMoved()]).toEqual([
    'of another',
    ['before-restore-2027-01-01T00-00-00.000Z', 'data'],
  ])
})

test('only the data from before the last two restores is kept', async () => {
  await stop()
  for (const text of ['one', 'two', 'three', 'four']) {
    await runRestore(first, await upload(text))
    await endEtcdRestore(host, first)
    host.clock.time += 1000
  }
  expect(await listMoved()).toEqual([
    'before-restore-2027-01-01T00-00-02.000Z',
    'before-restore-2027-01-01T00-00-03.000Z',
    'data',
  ])
})

test('the data from before the last restore is kept although the clock was set back', async () => {
  await stop()
  for (const text of ['one', 'two', 'three', 'four']) {
    await runRestore(first, await upload(text))
    await endEtcdRestore(host, first)
    host.clock.time -= 1000
  }
  const [older = '', newer = ''] = await listMoved()
  expect(await dataNow(`${root}/${older}`)).toBe('two')
  expect(await dataNow(`${root}/${newer}`)).toBe('three')
})

test('wherever a restore is interrupted, the next run continues, and no earlier data is lost', async () => {
  await stop()
  for (let ends = 0, killed = true; killed; ends++) {
    await host.files.removeTree(root)
    await haveData('of before')
    const sha256 = await upload('restored')
    killed = await runRestore(first, sha256, withCrash(host, { calls: 0, ends })).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    // The interrupted run may have deleted the uploaded archive. An operator would upload it again.
    await upload('restored')
    host.clock.time += 1000
    await runRestore(first, sha256)
    const names = await listMoved()
    expect(names, `cut at ${ends}`).toHaveLength(2)
    expect(await dataNow()).toBe('restored')
    expect(await dataNow(`${root}/${names[0]}`)).toBe('of before')
    await endEtcdRestore(host, first)
  }
})

test('wherever a restore is interrupted, another restore can replace it', async () => {
  await stop()
  for (let ends = 0, killed = true; killed; ends += 3) {
    await host.files.removeTree(root)
    await haveData('of before')
    const sha256 = await upload('restored')
    killed = await runRestore(first, sha256, withCrash(host, { calls: 0, ends })).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    host.clock.time += 1000
    await runRestore(second, await upload('of another'))
    const names = await listMoved()
    expect(names, `cut at ${ends}`).toHaveLength(2)
    expect(await dataNow()).toBe('of another')
    expect(await dataNow(`${root}/${names[0]}`)).toBe('of before')
    await endEtcdRestore(host, second)
  }
})
