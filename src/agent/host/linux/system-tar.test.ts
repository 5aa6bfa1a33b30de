import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runHostCommand } from '../command.ts'
import { createPathMapper } from '../local-files.ts'
import { createSystemTar } from './system-tar.ts'

const never = new AbortController().signal
let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tar-'))
  await mkdir(join(root, 'from/bin'), { recursive: true })
  await mkdir(join(root, 'into'))
  await writeFile(join(root, 'from/bin/one'), 'one')
})
afterEach(async () => rm(root, { recursive: true, force: true }))

function pack(...args: readonly string[]): void {
  execFileSync('tar', ['-C', join(root, 'from'), '-czf', join(root, 'a.tgz'), ...args])
}

async function unpack(strip = 0): Promise<string[]> {
  await createSystemTar(createPathMapper(root), runHostCommand).unpack(
    { path: '/a.tgz', into: '/into', strip },
    never,
  )
  return (await readdir(join(root, 'into'), { recursive: true })).toSorted()
}

test('leading path components are stripped', async () => {
  pack('bin')
  expect(await unpack()).toEqual(['bin', 'bin/one'])
  await rm(join(root, 'into'), { recursive: true })
  await mkdir(join(root, 'into'))
  expect(await unpack(1)).toEqual(['one'])
})

test('links inside of the archive are kept', async () => {
  await symlink('one', join(root, 'from/bin/two'))
  pack('bin')
  expect(await unpack()).toEqual(['bin', 'bin/one', 'bin/two'])
})

test.each([
  ['a path that leads up', ['--transform=s,bin/one,../../escaped,', '-P', 'bin/one'], undefined],
  ['an absolute path', ['--transform=s,bin/one,/tmp/escaped,', '-P', 'bin/one'], undefined],
  ['a link that leads up', ['bin'], '../../outside'],
  ['a link to an absolute path', ['bin'], '/etc/passwd'],
])('%s is refused', async (_, args, link) => {
  if (link !== undefined) await symlink(link, join(root, 'from/bin/two'))
  pack(...args)
  await expect(unpack()).rejects.toMatchObject({ code: 'APPLY_ARCHIVE_REFUSED' })
})

test('a file that is not an archive fails with the error of tar', async () => {
  await writeFile(join(root, 'a.tgz'), 'no archive')
  await expect(unpack()).rejects.toMatchObject({ code: 'COMMAND_FAILED' })
})
