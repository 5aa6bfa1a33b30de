import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
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
import { adminOnlySddl } from '../windows-operations/files.ts'
import { toFileMode, toSddl, windowsFiles } from './windows-files.ts'

const closed = { uid: 0, gid: 0, mode: 0o600 }
const open = { uid: 0, gid: 0, mode: 0o644 }

let root: string
let files: HostFiles
let changes: readonly { readonly operation: string }[]
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'windows-'))
  const simulated = simulatedHost(newMachine(new Map(), { files: directoryFiles(root, new Map()) }))
  files = windowsFiles(createLocalPathMapper(root), simulated.host.files)
  ;({ changes } = simulated)
})
afterEach(async () => rm(root, { recursive: true, force: true }))

const secret = String.raw`C:\hyperkube\settings\key`

test('a directory is made with those around it, and only itself is closed', async () => {
  const made = await files.makeDirectory(String.raw`C:\etc\cni\net.d`, { ...closed, mode: 0o700 })
  expect(made).toEqual([String.raw`C:\etc`, String.raw`C:\etc\cni`])
  expect((await files.stat(String.raw`C:\etc\cni`))?.mode).toBe(0o755)
  expect((await files.stat(String.raw`C:\etc\cni\net.d`))?.mode).toBe(0o700)
})

test('a private file is closed before anything is in it, and written atomically', async () => {
  await files.makeDirectory(String.raw`C:\hyperkube\settings`, { ...closed, mode: 0o755 })
  await files.write(secret, Buffer.from('one'), closed)
  await files.write(secret, Buffer.from('another'), closed)
  expect((await files.read(secret))?.toString()).toBe('another')
  expect(await files.stat(secret)).toMatchObject({ kind: 'file', mode: 0o600, uid: 0, size: 7 })
  // Temporary files are removed.
  expect(await readdir(join(root, 'C:/hyperkube/settings'))).toEqual(['key'])
})

test('a program and a file that all may read are as the directory says', async () => {
  await files.makeDirectory(String.raw`C:\p`, { ...closed, mode: 0o700 })
  await files.write(String.raw`C:\p\a.exe`, Buffer.from('x'), { ...open, mode: 0o755 })
  await files.write(String.raw`C:\p\a.txt`, Buffer.from('x'), open)
  expect((await files.stat(String.raw`C:\p\a.exe`))?.mode).toBe(0o755)
  expect((await files.stat(String.raw`C:\p\a.txt`))?.mode).toBe(0o644)
})

test('who may enter is changed only where it is another one, and given back to the letter', async () => {
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

test('what is not there is said to be missing', async () => {
  const nothing = String.raw`C:\nothing\at\all`
  expect([await files.stat(nothing), await files.read(nothing), await files.list(nothing)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(await files.remove(nothing)).toBe(false)
  await files.removeTree(nothing)
})

test('a journal grows line by line, and is closed from its first one on', async () => {
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

test.each([
  [adminOnlySddl.file, false, 0o600],
  [adminOnlySddl.directory, true, 0o700],
  ['O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)', false, 0o644],
  ['O:BAG:SYD:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)', true, 0o755],
  ['O:SYG:SYD:PAI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;WD)', false, 0o666],
  ['O:SYG:SYD:AI(A;;FA;;;S-1-5-21-1-2-3-1001)(A;ID;FA;;;SY)', false, 0o666],
  ['O:SYG:SYD:AI(A;OICI;FA;;;BU)(A;OICIID;FA;;;SY)', true, 0o777],
  // Windows gives all users access to a file without an access list. Hyperkube never creates such a file.
  ['', false, 0o644],
])('%s is as the plan would say it', (sddl, isProgram, mode) => {
  expect(toFileMode(sddl, isProgram)).toBe(mode)
})

test.each([
  [0o600, 'file', adminOnlySddl.file],
  [0o700, 'directory', adminOnlySddl.directory],
  [0o644, 'file', 'O:SYG:SYD:AI'],
  [0o755, 'directory', 'O:SYG:SYD:AI'],
] as const)('mode %i of a %s', (mode, kind, sddl) => {
  expect(toSddl(mode, kind)).toBe(sddl)
})
