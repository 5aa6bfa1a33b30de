import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { clusterIdentity, clusterFiles, buildSnapshot } from './testing/fixtures.ts'

const keyFile = { 'kept.key': clusterFiles['/home/me/.config/hyperkube/keys/shop.key'] ?? '' }

let directory: string
let file: string
let bytes: Buffer
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'unpack-'))
  file = join(directory, 'one.snapshot')
  bytes = await buildSnapshot(clusterIdentity, clusterFiles['cluster.identity'] ?? '')
})
afterAll(async () => rm(directory, { recursive: true }))

async function unpack(files: Readonly<Record<string, string>>, content = bytes) {
  await writeFile(file, content)
  return runHyperkube(`etcd snapshot unpack ${file} --key kept.key --to shop`, files)
}

test('unpack restores cluster.yml, cluster.identity and cluster.lock from a snapshot and a key', async () => {
  const { code, stdout, files } = await unpack(keyFile)
  expect(code).toBe(0)
  expect(stdout).toContain(
    'of shop, as of 2026-11-15T12:00:00.000Z:\n  shop/cluster.identity\n  shop/cluster.yml',
  )
  expect(files.get('shop/cluster.identity')).toBe(clusterFiles['cluster.identity'])
  expect(files.get('shop/cluster.yml')).toBe(clusterFiles['cluster.yml'])
  expect(files.get('shop/cluster.lock')).toContain('kind: Lock')
})

test('unpack writes nothing if one of the files exists', async () => {
  const before = { ...keyFile, 'shop/cluster.lock': 'mine' }
  const { code, stderr, files } = await unpack(before)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^SNAPSHOT_UNPACK_EXISTS: shop\/cluster.lock/)])
  expect(Object.fromEntries(files)).toEqual(before)
})

test('nothing is written for a truncated snapshot or one of another cluster', async () => {
  const truncated = await unpack(keyFile, bytes.subarray(0, -1))
  expect([truncated.code, truncated.stderr]).toEqual([1, expect.stringMatching(/^SNAPSHOT_TRUNCATED: /)])
  expect(Object.fromEntries(truncated.files)).toEqual(keyFile)
  const otherFiles = Object.fromEntries(
    (await runHyperkube('init --name shop --host 10.0.0.1=control-plane')).files,
  )
  const otherKeyFile = { 'kept.key': otherFiles['/home/me/.config/hyperkube/keys/shop.key'] ?? '' }
  const foreign = await unpack(otherKeyFile)
  expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringMatching(/^SNAPSHOT_FOREIGN: /)])
})

test('unpack without a key or a file is a usage error', async () => {
  expect((await runHyperkube(`etcd snapshot unpack ${file}`)).code).toBe(2)
  expect((await runHyperkube('etcd snapshot unpack --key kept.key')).code).toBe(2)
})
