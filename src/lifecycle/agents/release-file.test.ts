import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { compressRelease } from './release-file.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'release-'))
})
afterEach(async () => rm(directory, { recursive: true }))

type Release = Parameters<typeof compressRelease>[0]

async function writeRelease(bytes: Buffer): Promise<Release> {
  const file = join(directory, `hyperkube-${bytes.length}`)
  await writeFile(file, bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { file, sha256 }
}

const cache = (): string => join(directory, 'cache')
const listCache = async (): Promise<string[]> => readdir(join(cache(), 'hyperkube', 'releases'))

test('the executable is compressed once and reused from the cache', async () => {
  const bytes = randomBytes(300_000)
  const content = await writeRelease(bytes)
  const path = await compressRelease(content, cache())
  expect(gunzipSync(await readFile(path))).toEqual(bytes)
  const { ino } = await stat(path)
  expect(await compressRelease(content, cache())).toBe(path)
  // The inode is the same, so the file was not compressed a second time.
  expect((await stat(path)).ino).toBe(ino)
})

test('cached files of other releases are removed a week after their last use', async () => {
  const releases: Release[] = []
  for (const size of [1000, 2000, 3000]) releases.push(await writeRelease(randomBytes(size)))
  const [first, second, third] = releases
  if (first === undefined || second === undefined || third === undefined) throw new Error('too few releases')
  const long = new Date(Date.now() - 8 * 86_400_000)
  const path = await compressRelease(first, cache())
  await utimes(path, long, long)
  // Using the cached file updates its modification time, so it counts as recently used.
  await compressRelease(first, cache())
  const secondPath = await compressRelease(second, cache())
  expect(await listCache()).toHaveLength(2)
  await utimes(secondPath, long, long)
  await compressRelease(third, cache())
  expect((await listCache()).toSorted()).toEqual([`${first.sha256}.gz`, `${third.sha256}.gz`].toSorted())
})

test('the compressed file next to the executable is used unless its content differs', async () => {
  const content = await writeRelease(Buffer.from('program'))
  await writeFile(`${content.file}.gz`, gzipSync('program'))
  expect(await compressRelease(content, cache())).toBe(`${content.file}.gz`)
  await writeFile(`${content.file}.gz`, gzipSync('another'))
  expect(await compressRelease(content, cache())).toContain(content.sha256)
})

test('a truncated file in the cache is replaced', async () => {
  const bytes = randomBytes(5000)
  const content = await writeRelease(bytes)
  const path = await compressRelease(content, cache())
  await truncate(path, 100)
  expect(gunzipSync(await readFile(await compressRelease(content, cache())))).toEqual(bytes)
})
