import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deliveredFile, deliveries } from '../../../contract/uploads.ts'
import { etcdData } from '../../../contract/etcd-restore.ts'
import type { LinuxHost } from '../../host/host.ts'
import { type TemporaryHost, temporaryHost } from '../../host/testing/temporary-host.ts'
import { applied, hostPlan, publish, running, someRun } from '../testing/fixtures.ts'
import { readJournal } from '../journal.ts'
import { Killed, mortal } from '../testing/crash-injection.ts'
import { stopServices } from '../reset/stop-services.ts'
import { endRestore, placeEtcd, restoring } from './restore-etcd-data.ts'

const root = dirname(etcdData)
const first = '11111111-1111-4111-8111-111111111111'
const second = '22222222-2222-4222-8222-222222222222'
const { signal } = new AbortController()
const plan = hostPlan(
  running('etcd', '1', {
    stage: 'etcd',
    directories: [
      { path: root, owner: 'etcd', mode: '0700' },
      { path: '/etc/hyperkube/etcd', owner: 'etcd', mode: '0700' },
    ],
  }),
)

let host: TemporaryHost & AsyncDisposable

beforeEach(async () => {
  host = await temporaryHost()
  publish(host, plan)
  await applied(host, plan)
  await haveData('of before')
})
afterEach(async () => host[Symbol.asyncDispose]())

async function haveData(text: string): Promise<void> {
  await mkdir(host.place(`${etcdData}/member/snap`), { recursive: true })
  await writeFile(host.place(`${etcdData}/member/snap/db`), text)
}

/** Brings an archive of a data directory to the host; answers with its digest. */
async function bring(text: string): Promise<string> {
  const made = host.place('/made')
  await mkdir(`${made}/member/snap`, { recursive: true })
  await writeFile(`${made}/member/snap/db`, text)
  const bytes = execFileSync('tar', ['-czf', '-', '-C', made, 'member'])
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const path = host.place(`${deliveries}/${deliveredFile(sha256)}`)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, bytes)
  return sha256
}

async function place(id: string, sha256: string, on: LinuxHost = host): Promise<string[]> {
  const told: string[] = []
  await placeEtcd(
    {
      host: on,
      name: 'cp1',
      run: someRun,
      emit: (what) => void (what.type === 'op-ended' && told.push(what.result.outcome)),
      signal,
    },
    { restore: restoreOf(id), sha256 },
  )
  return told
}

function restoreOf(id: string) {
  return { id, snapshot: 'a'.repeat(64), members: ['cp1=https://10.0.0.1:2380'] }
}

async function stop(): Promise<void> {
  await stopServices(
    { host, name: 'cp1', run: someRun, emit: () => undefined, signal },
    { components: ['etcd'] },
  )
}

async function dataNow(directory = etcdData): Promise<string> {
  return readFile(host.place(`${directory}/member/snap/db`), 'utf8')
}

async function beside(): Promise<string[]> {
  return (await readdir(host.place(root))).toSorted()
}

test('while etcd runs, nothing is done', async () => {
  await expect(place(first, await bring('restored'))).rejects.toMatchObject({ code: 'ETCD_RESTORE_RUNNING' })
  expect([await dataNow(), await beside(), await restoring(host)]).toEqual(['of before', ['data'], undefined])
})

test('data comes into its place, what was there is kept, and it is for its user alone', async () => {
  await stop()
  const sha256 = await bring('restored')
  expect(await place(first, sha256)).toEqual(['done'])
  expect([await dataNow(), await beside()]).toEqual([
    'restored',
    ['before-restore-2027-01-01T00-00-00.000Z', 'data'],
  ])
  expect(await dataNow(`${root}/before-restore-2027-01-01T00-00-00.000Z`)).toBe('of before')
  const owner = await host.users.find('etcd')
  for (const [path, mode] of [
    [etcdData, 0o700],
    [`${etcdData}/member/snap`, 0o700],
    [`${etcdData}/member/snap/db`, 0o600],
  ] as const) {
    const facts = await stat(host.place(path))
    expect([facts.mode & 0o777, facts.uid], path).toEqual([mode, owner?.uid])
  }
  expect(await host.files.stat(`${deliveries}/${deliveredFile(sha256)}`)).toBeUndefined()
  expect((await readJournal(host)).at(-1)?.what).toEqual({ type: 'run-ended', outcome: 'done' })
})

test('done twice it is done once, until somebody says that it is over', async () => {
  await stop()
  const sha256 = await bring('restored')
  await place(first, sha256)
  expect(await restoring(host)).toEqual({ ...restoreOf(first), state: 'placed' })
  expect(await place(first, sha256)).toEqual(['unchanged'])
  await endRestore(host, second)
  expect(await restoring(host)).toBeDefined()
  await endRestore(host, first)
  expect(await restoring(host)).toBeUndefined()
})

test('what was not brought, or is not what it should be, is refused, and all stays as it was', async () => {
  await stop()
  await expect(place(first, 'b'.repeat(64))).rejects.toMatchObject({ code: 'ETCD_RESTORE_NOT_BROUGHT' })
  const sha256 = await bring('restored')
  await writeFile(host.place(`${deliveries}/${deliveredFile(sha256)}`), 'something else')
  await expect(place(first, sha256)).rejects.toMatchObject({ code: 'ETCD_RESTORE_NOT_BROUGHT' })
  expect([await dataNow(), await beside()]).toEqual(['of before', ['data']])
})

test('another restore takes the place of one that never ended, and what was there before both is kept', async () => {
  await stop()
  await place(first, await bring('restored'))
  host.clock.time += 1000
  await place(second, await bring('of another'))
  expect([await dataNow(), await beside()]).toEqual([
    'of another',
    ['before-restore-2027-01-01T00-00-00.000Z', 'data'],
  ])
})

test('of many restores what was there before the last two is kept', async () => {
  await stop()
  for (const text of ['one', 'two', 'three', 'four']) {
    await place(first, await bring(text))
    await endRestore(host, first)
    host.clock.time += 1000
  }
  expect(await beside()).toEqual([
    'before-restore-2027-01-01T00-00-02.000Z',
    'before-restore-2027-01-01T00-00-03.000Z',
    'data',
  ])
})

test('wherever it is cut, whoever comes again goes on, and nothing of before is lost', async () => {
  await stop()
  for (let ends = 0, killed = true; killed; ends++) {
    await host.files.removeTree(root)
    await haveData('of before')
    const sha256 = await bring('restored')
    killed = await place(first, sha256, mortal(host, { calls: 0, ends })).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    // As whoever brings it looks first whether it is there.
    await bring('restored')
    host.clock.time += 1000
    await place(first, sha256)
    const names = await beside()
    expect(names, `cut at ${ends}`).toHaveLength(2)
    expect(await dataNow()).toBe('restored')
    expect(await dataNow(`${root}/${names[0]}`)).toBe('of before')
    await endRestore(host, first)
  }
})

test('wherever it is cut, another restore can take its place', async () => {
  await stop()
  for (let ends = 0, killed = true; killed; ends += 3) {
    await host.files.removeTree(root)
    await haveData('of before')
    const sha256 = await bring('restored')
    killed = await place(first, sha256, mortal(host, { calls: 0, ends })).then(
      () => false,
      (error: unknown) => error instanceof Killed,
    )
    host.clock.time += 1000
    await place(second, await bring('of another'))
    const names = await beside()
    expect(names, `cut at ${ends}`).toHaveLength(2)
    expect(await dataNow()).toBe('of another')
    expect(await dataNow(`${root}/${names[0]}`)).toBe('of before')
    await endRestore(host, second)
  }
})
