import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FileAccess, HostFiles } from '../files.ts'
import { createPathMapper } from '../local-files.ts'
import { createLinuxFiles } from './linux-files.ts'

const access: FileAccess = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, mode: 0o640 }

let root: string
let files: HostFiles

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'files-'))
  files = createLinuxFiles(createPathMapper(root))
})
afterEach(async () => rm(root, { recursive: true, force: true }))

test('a written file has its content, owner and mode, and leaves no temporary file', async () => {
  await files.write('/a', Buffer.from('one'), access)
  await files.write('/a', Buffer.from('two'), { ...access, mode: 0o4755 })
  expect(await readFile(join(root, 'a'), 'utf8')).toBe('two')
  expect(await files.stat('/a')).toMatchObject({ kind: 'file', ...access, mode: 0o4755, size: 3 })
  expect(await readdir(root)).toEqual(['a'])
})

test('a failed write changes nothing and leaves no temporary file', async () => {
  await mkdir(join(root, 'a/b'), { recursive: true })
  await expect(files.write('/a', Buffer.from('one'), access)).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/)
  expect(await readdir(root)).toEqual(['a'])
})

test('a digest is the SHA-256 of the content', async () => {
  await files.write('/a', Buffer.from('abc'), access)
  // SHA-256 of `abc`, computed with sha256sum.
  expect(await files.digest('/a')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test.each([0, 1, 32 << 10, (32 << 10) + 1, (1 << 20) + (33 << 10), 3 << 20])(
  'the digest covers all of %i bytes',
  async (size) => {
    const content = Buffer.alloc(size, 'hyperkube')
    await files.write('/a', content, access)
    expect(await files.digest('/a')).toBe(createHash('sha256').update(content).digest('hex'))
  },
)

test('a missing file is undefined, not an error', async () => {
  expect(await files.stat('/none')).toBeUndefined()
  expect(await files.read('/none')).toBeUndefined()
  expect(await files.list('/none')).toBeUndefined()
  expect(await files.readLink('/none')).toBeUndefined()
  expect(await files.stat('/none/deeper')).toBeUndefined()
  expect(await files.remove('/none')).toBe(false)
  await files.removeTree('/none')
})

test('links that others may have created are not followed', async () => {
  await writeFile(join(root, 'target'), 'theirs')
  await symlink('target', join(root, 'a'))
  expect(await files.stat('/a')).toMatchObject({ kind: 'link' })
  expect(await files.read('/a')).toBeUndefined()
  await expect(files.setAccess('/a', access)).rejects.toThrow('ELOOP')
  await files.write('/a', Buffer.from('ours'), access)
  expect(await readFile(join(root, 'target'), 'utf8')).toBe('theirs')
  expect(await files.stat('/a')).toMatchObject({ kind: 'file' })
})

test('a new link replaces the previous one', async () => {
  await files.makeLink('/current', '/one')
  await files.makeLink('/current', '/two')
  expect(await files.readLink('/current')).toBe('/two')
  expect(await files.readLink('/')).toBeUndefined()
})

test('a directory is created with its parents, and an existing one gets the new access', async () => {
  expect(await files.makeDirectory('/a/b/c', { ...access, mode: 0o700 })).toEqual(['/a', '/a/b'])
  expect((await stat(join(root, 'a/b'))).mode & 0o777).toBe(0o755)
  expect(await files.makeDirectory('/a/b/c', { ...access, mode: 0o711 })).toEqual([])
  expect(await files.stat('/a/b/c')).toMatchObject({ kind: 'directory', mode: 0o711 })
  expect(await files.list('/a/b')).toEqual([{ name: 'c', kind: 'directory' }])
})

test('remove deletes only an empty directory, and removeTree deletes all of it', async () => {
  await files.makeDirectory('/a/b', access)
  await expect(files.remove('/a')).rejects.toThrow('ENOTEMPTY')
  await files.removeTree('/a')
  expect(await files.stat('/a')).toBeUndefined()
})

test('a file is truncated while others append to it, and links are not followed', async () => {
  await files.append('/log', 'one', 0o600)
  await files.empty('/log')
  await files.append('/log', 'two', 0o600)
  expect(await readFile(join(root, 'log'), 'utf8')).toBe('two')
  await symlink('log', join(root, 'link'))
  await expect(files.empty('/link')).rejects.toThrow('ELOOP')
})

test('appended lines are kept, and the file has the requested mode', async () => {
  await files.append('/log', 'one\n', 0o600)
  await files.append('/log', 'two\n', 0o600)
  expect((await files.read('/log'))?.toString()).toBe('one\ntwo\n')
  expect(await files.stat('/log')).toMatchObject({ mode: 0o600 })
})
