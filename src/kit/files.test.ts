import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFile, replaceFile } from './files.ts'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-replace-'))
})
afterEach(async () => rm(directory, { recursive: true }))

test('replaceFile creates or replaces a file and leaves no temporary file', async () => {
  const path = join(directory, 'new')
  await replaceFile(path, 'one', 0o644)
  await replaceFile(path, 'two', 0o644)
  expect([await readFile(path, 'utf8'), await readdir(directory)]).toEqual(['two', ['new']])
})

test('a failed replaceFile keeps the existing content and leaves no temporary file', async () => {
  const path = join(directory, 'taken')
  await mkdir(path)
  await writeFile(join(path, 'inside'), 'mine')
  await expect(replaceFile(path, 'x', 0o644)).rejects.toMatchObject({ code: 'EISDIR' })
  expect([await readdir(directory), await readdir(path)]).toEqual([['taken'], ['inside']])
})

test('createFile never replaces an existing file', async () => {
  const path = join(directory, 'new')
  await createFile(path, 'first', 0o644)
  await expect(createFile(path, 'second', 0o644)).rejects.toMatchObject({ code: 'EEXIST' })
  expect([await readFile(path, 'utf8'), await readdir(directory)]).toEqual(['first', ['new']])
})
