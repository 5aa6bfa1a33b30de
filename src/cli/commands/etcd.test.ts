import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runHyperkube } from '../testing/run-in-memory.ts'

const file = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  hosts: [{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }]
`
const files = { 'cluster.yml': file }
const named = 'before-upgrade.snapshot'
const days = [1, 2, 3].map((day) => `shop-2026-11-0${day}T12-00-00Z.snapshot`)

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'etcd-command-'))
  for (const name of [...days, named]) await writeFile(join(directory, name), 'x'.repeat(1_500_000))
})
afterEach(async () => rm(directory, { recursive: true }))

test('etcd snapshot list shows the newest snapshot first', async () => {
  await rm(join(directory, named))
  const { code, stdout } = await runHyperkube(`etcd snapshot list --from ${directory}`, files)
  expect(code).toBe(0)
  expect(stdout.replaceAll(directory, 'DIR')).toMatchInlineSnapshot(`
    "NAME                                TAKEN                 SIZE    IN
    shop-2026-11-03T12-00-00Z.snapshot  2026-11-03T12:00:00Z  1.5 MB  DIR
    shop-2026-11-02T12-00-00Z.snapshot  2026-11-02T12:00:00Z  1.5 MB  DIR
    shop-2026-11-01T12-00-00Z.snapshot  2026-11-01T12:00:00Z  1.5 MB  DIR
    "
  `)
  const json = await runHyperkube(`etcd snapshot list --from ${directory} -o json`, files)
  expect(JSON.parse(json.stdout)).toMatchObject({
    kind: 'EtcdSnapshotList',
    items: [{ name: days[2] }, {}, {}],
  })
})

test('etcd snapshot list without snapshots prints how to save one', async () => {
  const { code, stdout } = await runHyperkube(`etcd snapshot list --from ${directory}/none`, files)
  expect([code, stdout.replaceAll(directory, 'DIR')]).toEqual([
    0,
    'no snapshots in DIR/none; save one: hyperkube etcd snapshot save\n',
  ])
})

test('prune needs a confirmation and keeps snapshots with a custom name', async () => {
  const words = `etcd snapshot prune --keep 1 --from ${directory}`
  const alone = await runHyperkube(words, files)
  expect([alone.code, alone.stdout]).toEqual([2, ''])
  expect(alone.stderr).toContain(days[0])
  expect(alone.stderr).not.toContain(days[2])
  const no = await runHyperkube(words, files, { replies: [false] })
  expect([no.code, no.prompts]).toEqual([3, ['make these changes?']])
  expect(await readdir(directory)).toHaveLength(4)
  const yes = await runHyperkube(words, files, { replies: [true] })
  expect([yes.code, yes.stdout]).toEqual([0, 'removed 2 snapshots\n'])
  expect(await readdir(directory)).toEqual([named, days[2]])
  const again = await runHyperkube(`${words} --yes`, files)
  expect([again.code, again.stdout]).toEqual([0, 'nothing to remove\n'])
})

test('prune needs --keep or spec.etcd.backup.keep', async () => {
  const words = `etcd snapshot prune --yes --from ${directory}`
  expect((await runHyperkube(words, files)).code).toBe(2)
  const keep = { 'cluster.yml': `${file}  etcd: { backup: { keep: 2 } }\n` }
  expect((await runHyperkube(words, keep)).stdout).toBe('removed 1 snapshot\n')
  expect((await runHyperkube(`${words} --keep 0`, files)).code).toBe(2)
})

test.each([
  ['etcd', 2],
  ['etcd snapshot', 2],
  ['etcd snapshot eat', 2],
  ['etcd snapshot verify', 2],
])('%s is a usage error', async (words, code) => {
  const { code: found, stderr } = await runHyperkube(words, files)
  expect(found).toBe(code)
  expect(stderr).toMatch(/^USAGE: /)
})

test('--from s3 without a bucket in cluster.yml is an error', async () => {
  // The command opens the identity before the bucket, so `init` creates an identity. The cluster.yml that
  // `init` writes names no bucket.
  const ready = await runHyperkube('init --host root@10.0.0.1=control-plane --name shop')
  const made = Object.fromEntries(ready.files)
  const nowhere = await runHyperkube('etcd snapshot list --from s3', made)
  expect(nowhere.stderr).toContain('SNAPSHOT_STORE_UNKNOWN')
})
