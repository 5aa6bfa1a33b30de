import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDirectoryStore } from './directory-store.ts'
import { createSnapshotDirectory } from './testing/fixtures.ts'

const { signal } = new AbortController()
const ignoreProgress = (): void => undefined
let directory: Awaited<ReturnType<typeof createSnapshotDirectory>>

beforeEach(async () => {
  directory = await createSnapshotDirectory()
  await writeFile(directory.at('made'), 'content', { mode: 0o600 })
})
afterEach(async () => directory[Symbol.asyncDispose]())

test('a snapshot is put, listed, read and removed', async () => {
  const store = createDirectoryStore(directory.at('deep/snapshots'))
  expect(await store.list(signal)).toEqual([])
  await store.put('b.snapshot', directory.at('made'), ignoreProgress, signal)
  await store.put('a.snapshot', directory.at('made'), ignoreProgress, signal)
  expect((await stat(directory.at('deep/snapshots'))).mode & 0o777).toBe(0o700)
  await writeFile(directory.at('deep/snapshots/notes.txt'), '')
  expect(await store.list(signal)).toEqual([
    { name: 'a.snapshot', size: 7, modified: expect.any(Date) },
    { name: 'b.snapshot', size: 7, modified: expect.any(Date) },
  ])
  expect(Buffer.concat(await Array.fromAsync(store.read('a.snapshot', signal))).toString()).toBe('content')
  await store.remove('a.snapshot', signal)
  await store.remove('a.snapshot', signal)
  expect(await readdir(directory.at('deep/snapshots'))).toEqual(['b.snapshot', 'notes.txt'])
})

test('a snapshot never replaces another snapshot', async () => {
  const store = createDirectoryStore(directory.at('.'))
  await writeFile(directory.at('a.snapshot'), 'first')
  await expect(store.put('a.snapshot', directory.at('made'), ignoreProgress, signal)).rejects.toMatchObject({
    code: 'SNAPSHOT_STORE_FAILED',
    cause: { code: 'EEXIST' },
  })
  expect(await readFile(directory.at('a.snapshot'), 'utf8')).toBe('first')
})

test('disk errors name the directory', async () => {
  await writeFile(directory.at('file'), '')
  await mkdir(directory.at('a.snapshot'))
  const message = expect.stringContaining(directory.at('file'))
  const store = createDirectoryStore(directory.at('file'))
  await expect(store.list(signal)).rejects.toMatchObject({ code: 'SNAPSHOT_STORE_FAILED', message })
  await expect(Array.fromAsync(store.read('x.snapshot', signal))).rejects.toMatchObject({ message })
})
