import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  createLocalPathMapper,
  directoryFiles,
} from '../../../lab/windows/simulator/files/directory-files.ts'
import { newMachine } from '../../../lab/windows/simulator/new-machine.ts'
import { simulatedHost } from '../../../lab/windows/simulator/simulated-host.ts'
import type { HostFiles } from '../host/files.ts'
import type { WindowsOperations } from '../host/windows-operations/table.ts'
import { windowsFiles } from '../host/windows/windows-files.ts'
import { openAgentKey, readAgentKey } from './agent-key.ts'

const state = String.raw`C:\hyperkube\state\agent`
const keyFile = String.raw`${state}\agent.key`

let root: string
let files: HostFiles
let operations: WindowsOperations
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'key-'))
  const simulated = simulatedHost(newMachine(new Map(), { files: directoryFiles(root, new Map()) }))
  operations = simulated.host
  files = windowsFiles(createLocalPathMapper(root), operations.files)
  await files.makeDirectory(state, { uid: 0, gid: 0, mode: 0o700 })
})
afterEach(async () => rm(root, { recursive: true, force: true }))

test('the key is created once, and only administrators can read it', async () => {
  await expect(readAgentKey(files, state)).rejects.toMatchObject({ code: 'AGENT_NOT_THERE' })
  const key = await openAgentKey(files, state)
  expect(await openAgentKey(files, state)).toEqual(key)
  expect(await readAgentKey(files, state)).toEqual(key)
  expect((await files.stat(keyFile))?.mode).toBe(0o600)
})

test.each([
  ['that others may read', 'O:SYG:SYD:AI(A;;FR;;;BU)'],
  ['of another owner', 'O:S-1-5-21-1-2-3-1001G:SYD:PAI(A;;FA;;;SY)(A;;FA;;;BA)'],
])('a key %s is replaced', async (_name, sddl) => {
  const key = await openAgentKey(files, state)
  await operations.files.grant({ path: keyFile, sddl })
  expect(await openAgentKey(files, state)).not.toEqual(key)
  expect((await files.stat(keyFile))?.mode).toBe(0o600)
})
