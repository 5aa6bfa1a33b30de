import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ensureCached } from './cache.ts'

let parent: string
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'keep-'))
})
afterEach(async () => rm(parent, { recursive: true }))

test('a cache entry is created once', async () => {
  let made = 0
  const make = async (unfinished: string): Promise<void> =>
    writeFile(join(unfinished, 'file'), String(++made))
  await ensureCached(join(parent, 'a'), make)
  await ensureCached(join(parent, 'a'), make)
  expect(made).toBe(1)
  expect(await readdir(parent)).toEqual(['a'])
})

test('a failed creation leaves no files', async () => {
  const failing = ensureCached(join(parent, 'a'), async () => {
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  expect(await readdir(parent)).toEqual([])
})

test('leftovers of an ended process are removed', async () => {
  await mkdir(join(parent, '.999999999-a'))
  await ensureCached(join(parent, 'a'), async () => undefined)
  expect(await readdir(parent)).toEqual(['a'])
})
