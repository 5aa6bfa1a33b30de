import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createIdentity } from '../../identity/identity.ts'
import { seal } from '../../identity/seal.ts'
import { hyperkube } from '../testing/run-in-memory.ts'
import { identity, key, made, snapshotOf } from './testing/fixtures.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'verify-'))
  vi.stubEnv('TMPDIR', directory)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await rm(directory, { recursive: true })
})

async function verify(bytes: Buffer): Promise<string> {
  const file = join(directory, 'one.snapshot')
  await writeFile(file, bytes)
  const { code, stderr } = await hyperkube(`etcd snapshot verify ${file}`, made)
  expect(code).toBe(1)
  return stderr
}

/** As far as one comes where the lock has no etcd for this machine: all that a snapshot says of itself is right. */
const whole = /it is whole and of this cluster; restoring it\nSNAPSHOT_NO_PROGRAM/

test('a snapshot of this cluster is taken for one', async () => {
  expect(await verify(await snapshotOf(identity, made['cluster.identity'] ?? ''))).toMatch(whole)
})

test('so is one from before its authorities were renewed', async () => {
  const { authorities } = await createIdentity('shop', new Date('2026-01-01'))
  const former = { ...identity, authorities }
  expect(await verify(await snapshotOf(former, await seal(former, key)))).toMatch(whole)
})

test('one of another cluster is not, though it bears the same name', async () => {
  const other = await createIdentity('shop', new Date('2026-01-01'))
  expect(await verify(await snapshotOf(other, await seal(other, key)))).toMatch(/^SNAPSHOT_FOREIGN: /)
  const theirs = Object.fromEntries((await hyperkube('init --name shop --host 10.0.0.1=control-plane')).files)
  const bytes = await snapshotOf(other, theirs['cluster.identity'] ?? '')
  expect(await verify(bytes)).toMatch(/^SNAPSHOT_FOREIGN: .*sealed with another key/)
})

test('nor one that was changed or cut, and no directory is left', async () => {
  const bytes = await snapshotOf(identity, made['cluster.identity'] ?? '')
  expect(await verify(bytes.subarray(0, -1))).toMatch(/^SNAPSHOT_TRUNCATED: /)
  bytes.writeUInt8(0, bytes.length - 2000)
  expect(await verify(bytes)).toMatch(/^SNAPSHOT_CORRUPT: .*the content of etcd.db/)
  expect(await readdir(directory)).toEqual(['one.snapshot'])
})

test('one that is nowhere', async () => {
  const { code, stderr } = await hyperkube(`etcd snapshot verify gone --from ${directory}`, made)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^SNAPSHOT_NOT_FOUND: /)])
})
