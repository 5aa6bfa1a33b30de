import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  createLocalPathMapper,
  directoryFiles,
} from '../../../../lab/windows/simulator/files/directory-files.ts'
import { newMachine } from '../../../../lab/windows/simulator/new-machine.ts'
import { simulatedHost } from '../../../../lab/windows/simulator/simulated-host.ts'
import type { HostFiles } from '../files.ts'
import type { WindowsOperations } from '../windows-operations/table.ts'
import { adminOnlySddl } from '../windows-operations/files.ts'
import { windowsFiles } from './windows-files.ts'

const closed = { uid: 0, gid: 0, mode: 0o600 }
const open = { uid: 0, gid: 0, mode: 0o644 }

let root: string
let files: HostFiles
let operations: WindowsOperations
let changes: readonly { readonly operation: string }[]
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'windows-'))
  const simulated = simulatedHost(newMachine(new Map(), { files: directoryFiles(root, new Map()) }))
  files = windowsFiles(createLocalPathMapper(root), simulated.host.files)
  ;({ changes, host: operations } = simulated)
})
afterEach(async () => rm(root, { recursive: true, force: true }))

const secret = String.raw`C:\hyperkube\settings\key`

test('a private directory is created with private parents, and any other directory inherits its access', async () => {
  const made = await files.makeDirectory(String.raw`C:\etc\cni\net.d`, { ...closed, mode: 0o700 })
  expect(made).toEqual([String.raw`C:\etc`, String.raw`C:\etc\cni`])
  expect((await files.stat(String.raw`C:\etc\cni`))?.mode).toBe(0o700)
  expect((await files.stat(String.raw`C:\etc\cni\net.d`))?.mode).toBe(0o700)
  await files.makeDirectory(String.raw`C:\var\lib\kubelet`, { ...closed, mode: 0o755 })
  expect((await files.stat(String.raw`C:\var\lib`))?.mode).toBe(0o755)
})

test('a private file has its content and mode, and leaves no temporary file', async () => {
  await files.makeDirectory(String.raw`C:\hyperkube\settings`, { ...closed, mode: 0o755 })
  await files.write(secret, Buffer.from('one'), closed)
  await files.write(secret, Buffer.from('another'), closed)
  expect((await files.read(secret))?.toString()).toBe('another')
  expect(await files.stat(secret)).toMatchObject({ kind: 'file', mode: 0o600, uid: 0, size: 7 })
  // No temporary files remain.
  expect(await readdir(join(root, 'C:/hyperkube/settings'))).toEqual(['key'])
})

test('a program and a public file inherit the access of their directory', async () => {
  await files.makeDirectory(String.raw`C:\p`, { ...closed, mode: 0o700 })
  await files.write(String.raw`C:\p\a.exe`, Buffer.from('x'), { ...open, mode: 0o755 })
  await files.write(String.raw`C:\p\a.txt`, Buffer.from('x'), open)
  expect((await files.stat(String.raw`C:\p\a.exe`))?.mode).toBe(0o755)
  expect((await files.stat(String.raw`C:\p\a.txt`))?.mode).toBe(0o644)
})

test('an access list is changed only if it differs, and restored exactly', async () => {
  await files.makeDirectory(String.raw`C:\d`, { ...closed, mode: 0o755 })
  const before = await files.stat(String.raw`C:\d`)
  const count = changes.length
  await files.setAccess(String.raw`C:\d`, { ...closed, mode: 0o755 })
  expect(changes).toHaveLength(count)
  await files.setAccess(String.raw`C:\d`, { ...closed, mode: 0o700 })
  expect((await files.stat(String.raw`C:\d`))?.mode).toBe(0o700)
  await files.setAccess(String.raw`C:\d`, { uid: 0, gid: 0, mode: 0o755, sddl: before?.sddl })
  expect((await files.stat(String.raw`C:\d`))?.sddl).toBe(before?.sddl)
})

test('a missing file is undefined, not an error', async () => {
  const nothing = String.raw`C:\nothing\at\all`
  expect([await files.stat(nothing), await files.read(nothing), await files.list(nothing)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(await files.remove(nothing)).toBe(false)
  await files.removeTree(nothing)
})

test('appended lines are kept, and the file is private', async () => {
  await files.makeDirectory(String.raw`C:\j`, { ...closed, mode: 0o755 })
  await files.append(String.raw`C:\j\journal`, 'one\n', 0o600)
  await files.append(String.raw`C:\j\journal`, 'two\n', 0o600)
  expect(await readFile(join(root, 'C:/j/journal'), 'utf8')).toBe('one\ntwo\n')
  expect((await files.stat(String.raw`C:\j\journal`))?.mode).toBe(0o600)
})

test('a file can be emptied while a program appends to it', async () => {
  const log = String.raw`C:\log`
  await files.append(log, 'one', 0o600)
  await files.empty(log)
  await files.append(log, 'two', 0o600)
  expect((await files.read(log))?.toString()).toBe('two')
})

const user = 'S-1-5-21-1-2-3-1001'
const base = String.raw`C:\hyperkube`
const privateAccess = { ...closed, mode: 0o700 }

/** Creates a directory as an ordinary user would, with an access list that looks like hyperkube's. */
async function makeAsUser(path: string, sddl = adminOnlySddl.directory): Promise<void> {
  await mkdir(toLocal(path), { recursive: true })
  await setOwner(path, sddl)
}

async function setOwner(path: string, sddl: string): Promise<void> {
  await operations.files.grant({ path, sddl: sddl.replace(/^O:SY/, `O:${user}`) })
}

function toLocal(path: string): string {
  return createLocalPathMapper(root)(path)
}

test('an empty directory of another user is replaced, because that user may still have it open', async () => {
  await makeAsUser(base)
  const before = await files.stat(base)
  expect(before?.mode).toBe(0o777)
  await files.makeDirectory(base, privateAccess)
  const after = await files.stat(base)
  expect(after).toMatchObject({ mode: 0o700, sddl: adminOnlySddl.directory })
  expect(after?.changed).not.toBe(before?.changed)
})

test.each([
  ['itself', base],
  ['its parent', String.raw`${base}\state\agent`],
])('a directory with content whose owner is another user is refused: %s', async (_which, path) => {
  await makeAsUser(base)
  await mkdir(toLocal(String.raw`${base}\programs`))
  await expect(files.makeDirectory(path, privateAccess)).rejects.toMatchObject({
    code: 'APPLY_FOREIGN_OWNER',
    message: expect.stringContaining(`its owner is ${user}, and it is not empty`),
  })
  expect(await readdir(toLocal(base))).toEqual(['programs'])
})

test('a directory of an administrator in which another user has created a file is refused', async () => {
  const planted = String.raw`${base}\programs\hyperkube-0.1.0\version.dll`
  await mkdir(toLocal(String.raw`${base}\programs\hyperkube-0.1.0`), { recursive: true })
  await writeFile(toLocal(planted), 'planted')
  await setOwner(planted, 'O:SYG:SYD:AI')
  await expect(files.makeDirectory(base, privateAccess)).rejects.toMatchObject({
    code: 'APPLY_FOREIGN_OWNER',
    message: expect.stringContaining(planted),
  })
})

test('a directory of an administrator becomes private, and keeps files of administrators', async () => {
  await mkdir(toLocal(base))
  await writeFile(toLocal(String.raw`${base}\notes.txt`), 'notes')
  await files.makeDirectory(base, privateAccess)
  expect((await files.stat(base))?.mode).toBe(0o700)
  expect(await readdir(toLocal(base))).toEqual(['notes.txt'])
})

test('a link is refused, because its own owner is unknown', async () => {
  await mkdir(toLocal(String.raw`C:\elsewhere`), { recursive: true })
  await symlink(toLocal(String.raw`C:\elsewhere`), toLocal(base))
  await expect(files.makeDirectory(String.raw`${base}\state`, privateAccess)).rejects.toMatchObject({
    code: 'APPLY_FOREIGN_OWNER',
  })
})

test('the owner of a file is replaced with its access list', async () => {
  await files.makeDirectory(String.raw`C:\p`, privateAccess)
  await files.write(String.raw`C:\p\a.exe`, Buffer.from('x'), { ...open, mode: 0o755 })
  await setOwner(String.raw`C:\p\a.exe`, 'O:SYG:SYD:AI')
  expect((await files.stat(String.raw`C:\p\a.exe`))?.mode).toBe(0o777)
  await files.setAccess(String.raw`C:\p\a.exe`, { ...open, mode: 0o755 })
  expect((await files.stat(String.raw`C:\p\a.exe`))?.mode).toBe(0o755)
})

test.each([
  [0o644, 'O:SYG:SYD:AI'],
  [0o600, adminOnlySddl.file],
])('a file of mode %i whose owner is the writing administrator gets the right owner', async (mode, sddl) => {
  const granted: string[] = []
  const ofAdministrator = windowsFiles(toLocal, {
    access: async () => `O:${user}G:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)`,
    grant: async (input) => void granted.push(input.sddl),
  })
  await ofAdministrator.write(String.raw`C:\file`, Buffer.from('x'), { ...closed, mode })
  expect(granted).toEqual([sddl])
})
