import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createIdentity } from '../../identity/identity.ts'
import { sealIdentity } from '../../identity/seal.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { clusterIdentity, clusterKey, clusterFiles, buildSnapshot } from './testing/fixtures.ts'

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
  const { code, stderr } = await runHyperkube(`etcd snapshot verify ${file}`, clusterFiles)
  expect(code).toBe(1)
  return stderr
}

/**
 * Output for a snapshot that passes all checks. The command then fails, because the lock contains no etcd for
 * this machine.
 */
const completeOutput =
  /the snapshot is complete and belongs to this cluster; testing a restore\nPROGRAM_NOT_LOCKED/

test('a snapshot of this cluster is accepted', async () => {
  expect(await verify(await buildSnapshot(clusterIdentity, clusterFiles['cluster.identity'] ?? ''))).toMatch(
    completeOutput,
  )
})

test('a snapshot from before the CAs were renewed is accepted', async () => {
  const { cas } = await createIdentity('shop', new Date('2026-01-01'))
  const previous = { ...clusterIdentity, cas }
  expect(await verify(await buildSnapshot(previous, await sealIdentity(previous, clusterKey)))).toMatch(
    completeOutput,
  )
})

test('a snapshot of another cluster with the same name is refused', async () => {
  const other = await createIdentity('shop', new Date('2026-01-01'))
  expect(await verify(await buildSnapshot(other, await sealIdentity(other, clusterKey)))).toMatch(
    /^SNAPSHOT_FOREIGN: /,
  )
  const otherFiles = Object.fromEntries(
    (await runHyperkube('init --name shop --host 10.0.0.1=control-plane')).files,
  )
  const bytes = await buildSnapshot(other, otherFiles['cluster.identity'] ?? '')
  expect(await verify(bytes)).toMatch(/^SNAPSHOT_FOREIGN: .*sealed with another key/)
})

test('a changed or truncated snapshot is refused, and no directory is left', async () => {
  const bytes = await buildSnapshot(clusterIdentity, clusterFiles['cluster.identity'] ?? '')
  expect(await verify(bytes.subarray(0, -1))).toMatch(/^SNAPSHOT_TRUNCATED: /)
  bytes.writeUInt8(0, bytes.length - 2000)
  expect(await verify(bytes)).toMatch(/^SNAPSHOT_CORRUPT: .*the content of etcd.db/)
  expect(await readdir(directory)).toEqual(['one.snapshot'])
})

test('a snapshot that does not exist is an error', async () => {
  const { code, stderr } = await runHyperkube(
    `etcd snapshot verify missing --from ${directory}`,
    clusterFiles,
  )
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^SNAPSHOT_NOT_FOUND: /)])
})
