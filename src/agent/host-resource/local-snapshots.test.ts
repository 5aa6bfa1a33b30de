import { lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { array, assert, asyncProperty, constantFrom, oneof, string } from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LocalSnapshots, openLocalSnapshots } from './local-snapshots.ts'

let root: string
let directory: string
let snapshots: LocalSnapshots
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'snapshots-'))
  directory = join(root, 'snapshots')
  snapshots = openLocalSnapshots(directory)
})
afterEach(async () => rm(root, { recursive: true }))

async function* bytes(text: string) {
  yield Buffer.from(text)
}
const good = async (): Promise<void> => undefined

test('a verified snapshot gets its name, and only root can read it', async () => {
  expect(await snapshots.list()).toEqual([])
  const verified: string[] = []
  await snapshots.save('a.db', bytes('one'), async (file) => void verified.push(file))
  expect(verified).toEqual([join(directory, '.a.db.part')])
  expect(await readdir(directory)).toEqual(['a.db'])
  expect((await lstat(join(directory, 'a.db'))).mode & 0o777).toBe(0o600)
  expect((await lstat(directory)).mode & 0o777).toBe(0o700)
  expect(await snapshots.list()).toMatchObject([{ name: 'a.db', size: 3 }])
})

test('an invalid snapshot is not kept, and the next snapshot removes leftovers of a previous agent', async () => {
  const bad = async (): Promise<void> => Promise.reject(new Error('bad'))
  await expect(snapshots.save('a.db', bytes('one'), bad)).rejects.toThrow('bad')
  expect(await readdir(directory)).toEqual([])
  await writeFile(join(directory, '.old.db.part'), 'half')
  expect(await snapshots.list()).toEqual([])
  await snapshots.save('b.db', bytes('two'), good)
  expect(await readdir(directory)).toEqual(['b.db'])
})

test('a snapshot does not replace another of the same name', async () => {
  await snapshots.save('a.db', bytes('one'), good)
  await expect(snapshots.save('a.db', bytes('other'), good)).rejects.toMatchObject({ code: 'EEXIST' })
  expect(await snapshots.list()).toMatchObject([{ name: 'a.db', size: 3 }])
})

test('a snapshot that is larger than the free space is refused', async () => {
  await snapshots.requireSpace(1)
  await expect(snapshots.requireSpace(2 ** 60)).rejects.toMatchObject({ code: 'SNAPSHOT_NO_ROOM' })
})

test('a removal with any names deletes nothing outside of the directory, and only snapshots', async () => {
  await mkdir(directory)
  await writeFile(join(root, 'outside.db'), '')
  await symlink(join(root, 'outside.db'), join(directory, 'link.db'))
  for (const name of ['.hidden', '.a.db.part']) await writeFile(join(directory, name), '')
  const names = oneof(
    string(),
    constantFrom(
      '../outside.db',
      '..',
      '.',
      '',
      './link.db',
      '.hidden',
      '.a.db.part',
      join(root, 'outside.db'),
    ),
  )
  await assert(
    asyncProperty(array(names), async (some) => {
      expect(await snapshots.remove(some)).toEqual([])
      expect((await readdir(root)).toSorted()).toEqual(['outside.db', 'snapshots'])
      expect((await readdir(directory)).toSorted()).toEqual(['.a.db.part', '.hidden', 'link.db'])
    }),
  )
  await writeFile(join(directory, 'a.db'), '')
  expect(await snapshots.remove(['a.db', 'link.db', 'gone.db'])).toEqual(['a.db', 'link.db'])
  expect((await readdir(root)).toSorted(), 'a link is removed, but not its target').toEqual([
    'outside.db',
    'snapshots',
  ])
})
