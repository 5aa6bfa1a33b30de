import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { privateFiles } from './private-files.ts'
import { createIdentity } from './identity.ts'
import { createKeyFile, readIdentity, readKeyFile, writeIdentity } from './store.ts'

const files = privateFiles()
let directory = ''
let path = ''

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-identity-'))
  path = join(directory, 'file')
})
afterEach(async () => rm(directory, { recursive: true }))

async function mode(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8)
}

test('a replaced file is readable only by its owner, even if the old file was not', async () => {
  await writeFile(path, 'old', { mode: 0o644 })
  await files.replace(path, 'new')
  expect([await files.read(path), await mode(path)]).toEqual(['new', '600'])
  expect(await readdir(directory)).toEqual(['file'])
})

test('create never replaces an existing file', async () => {
  await files.create(path, 'first')
  await expect(files.create(path, 'second')).rejects.toMatchObject({ code: 'EEXIST' })
  expect([await files.read(path), await mode(path), await readdir(directory)]).toEqual([
    'first',
    '600',
    ['file'],
  ])
})

test('a temporary file that already exists is not used', async () => {
  const guessed = privateFiles({ bytes: (count) => new Uint8Array(count) })
  const trap = join(directory, '.file.0000000000000000')
  await writeFile(trap, 'trap')
  await expect(guessed.replace(path, 'secret')).rejects.toMatchObject({ code: 'EEXIST' })
  expect(await readFile(trap, 'utf8')).toBe('trap')
})

test('a failed replace leaves no temporary file', async () => {
  await mkdir(path)
  await expect(files.replace(path, 'x')).rejects.toMatchObject({ code: 'EISDIR' })
  expect(await readdir(directory)).toEqual(['file'])
})

test('an identity and its key are written with mode 600 and read back', async () => {
  const keyPath = join(directory, 'key')
  const identity = await createIdentity('shop', new Date())
  await writeIdentity(files, path, identity, await createKeyFile(files, keyPath))
  const read = await readIdentity(files, path, await readKeyFile(files, keyPath))
  expect(read.id).toBe(identity.id)
  expect([await mode(path), await mode(keyPath)]).toEqual(['600', '600'])
  await expect(createKeyFile(files, keyPath)).rejects.toMatchObject({ code: 'IDENTITY_KEY_NOT_WRITTEN' })
})

test('a missing key file is reported', async () => {
  await expect(readKeyFile(files, path)).rejects.toMatchObject({
    code: 'IDENTITY_KEY_NOT_READ',
    message: `${path} does not exist`,
  })
})

test.each([0o640, 0o604, 0o620, 0o644])('a key file with mode %o is refused', async (bits) => {
  await createKeyFile(files, path)
  await chmod(path, bits)
  await expect(readKeyFile(files, path)).rejects.toMatchObject({
    code: 'IDENTITY_KEY_EXPOSED',
    message: `other users can access the key file ${path} (mode 0${bits.toString(8)})`,
    hint: `chmod 600 ${path}`,
  })
  await chmod(path, 0o400)
  expect((await readKeyFile(files, path)).kind).toBe('file')
})
