import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { compressRelease, type ReleaseContent } from './release-file.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'release-'))
})
afterEach(async () => rm(directory, { recursive: true }))

async function writeRelease(bytes: Buffer): Promise<ReleaseContent> {
  const file = join(directory, 'hyperkube')
  await writeFile(file, bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { file, sha256, checksum: crc32(bytes), size: bytes.length }
}

const cache = (): string => join(directory, 'cache')
const listCache = async (): Promise<string[]> => readdir(join(cache(), 'hyperkube', 'releases'))

test('the executable is compressed once, and only the last release is kept', async () => {
  const bytes = randomBytes(300_000)
  const first = await writeRelease(bytes)
  const path = await compressRelease(first, cache())
  expect(gunzipSync(await readFile(path))).toEqual(bytes)
  // The cached file is used: without the executable it could not be created.
  await rm(first.file)
  expect(await compressRelease(first, cache())).toBe(path)
  const second = await writeRelease(randomBytes(1000))
  await compressRelease(second, cache())
  expect(await listCache()).toEqual([`${second.sha256}.gz`])
})

test('the compressed file of the release is used, unless it is of another executable', async () => {
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
