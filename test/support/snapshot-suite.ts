import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll-until.ts'
import { startS3Server } from './s3-server.ts'
import type { UpCluster } from './up-cluster.ts'

const savedSchema = z.object({
  name: z.string(),
  size: z.number(),
  keys: z.number(),
  revision: z.number(),
  stores: z.array(z.string()),
})
const verifiedSchema = z.object({ keys: z.number(), revision: z.number(), seconds: z.number() })
const listSchema = z.object({ items: z.array(z.object({ name: z.string(), store: z.string() })) })

/** Tests snapshots of a running cluster with the commands of an operator. */
export function snapshotSuite(clusterNow: () => UpCluster, { bucket: withBucket = false } = {}): void {
  const runEtcd = async (code: number, ...args: readonly string[]) =>
    clusterNow().operator.must(code, 'etcd', ...args)
  const runJson = async <T>(schema: z.ZodType<T>, ...args: readonly string[]): Promise<T> =>
    schema.parse(JSON.parse((await runEtcd(0, ...args, '-o', 'json')).stdout))
  const directory = (): string => join(clusterNow().directory, 'snapshots')
  const configMaps = '/api/v1/namespaces/default/configmaps'

  test('etcd status shows the leader', async () => {
    const { stdout } = await runEtcd(0, 'status')
    expect(stdout).toMatch(/ready\s+leader/)
  })

  test('what is saved can be restored, with every key that was there', { timeout: 300_000 }, async () => {
    const before = await runJson(savedSchema, 'snapshot', 'save', 'before')
    for (let index = 0; index < 20; index++) {
      await clusterNow().api.create(configMaps, buildConfigMap(`kept-${index}`))
    }
    const after = await runJson(savedSchema, 'snapshot', 'save')
    expect(after.keys).toBeGreaterThanOrEqual(before.keys + 20)
    expect(after.stores).toEqual([directory()])
    const { mode } = await stat(join(directory(), after.name))
    expect(mode & 0o777).toBe(0o600)
    expect(await readdir(directory())).toEqual(['before.snapshot', after.name].toSorted())
    const first = await runJson(verifiedSchema, 'snapshot', 'verify', 'before')
    const second = await runJson(verifiedSchema, 'snapshot', 'verify', after.name)
    expect(first.revision).toBeGreaterThanOrEqual(before.revision)
    expect(second.revision).toBeGreaterThanOrEqual(after.revision)
    expect(second.keys - first.keys).toBeGreaterThanOrEqual(20)
    const { items } = await runJson(listSchema, 'snapshot', 'list')
    expect(items.map(({ name }) => name).toSorted()).toEqual(['before.snapshot', after.name].toSorted())
  })

  test('a flipped byte, a missing end and another cluster’s are refused', async () => {
    const { directory: home, operator } = clusterNow()
    const original = await readFile(join(directory(), 'before.snapshot'))
    const bytes = Buffer.from(original)
    const middle = bytes.length >> 1
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
    const file = join(home, 'changed.snapshot')
    await writeFile(file, bytes)
    expect((await runEtcd(1, 'snapshot', 'verify', file)).stderr).toContain('SNAPSHOT_CORRUPT')
    await writeFile(file, original.subarray(0, -2000))
    expect((await runEtcd(1, 'snapshot', 'verify', file)).stderr).toContain('SNAPSHOT_TRUNCATED')
    await rm(file)
    const identity = [join(home, 'cluster.identity'), join(home, 'hyperkube/keys/lab.key')]
    for (const path of identity) await rename(path, `${path}.kept`)
    try {
      await operator.must(0, 'init')
      expect((await runEtcd(1, 'snapshot', 'verify', 'before')).stderr).toContain('SNAPSHOT_FOREIGN')
    } finally {
      for (const path of identity) await rename(`${path}.kept`, path)
    }
  })

  test('an interrupted verify leaves no process and no directory', { timeout: 300_000 }, async () => {
    const { operator } = clusterNow()
    // Only new directories count, because a killed earlier run leaves its directory.
    const directories = async (): Promise<string[]> =>
      (await readdir(tmpdir())).filter((name) => name.startsWith('hyperkube-snapshot-'))
    const before = await directories()
    const verifying = operator.start('etcd', 'snapshot', 'verify', 'before')
    await pollUntil('etcd to be started', async () => (await findScratchMembers()) !== '', {
      timeoutMs: 60_000,
      intervalMs: 5,
    })
    verifying.kill('SIGINT')
    expect((await verifying.ended).code).toBe(130)
    expect(await findScratchMembers()).toBe('')
    expect(await directories()).toEqual(before)
  })

  test('prune shows what would go, and leaves what a person has named', { timeout: 300_000 }, async () => {
    const last = await runJson(savedSchema, 'snapshot', 'save')
    const prompted = await runEtcd(2, 'snapshot', 'prune', '--keep', '1')
    expect(prompted.stderr).not.toContain(last.name)
    expect((await readdir(directory())).length).toBe(3)
    await runEtcd(0, 'snapshot', 'prune', '--keep', '1', '--yes')
    expect(await readdir(directory())).toEqual(['before.snapshot', last.name].toSorted())
  })

  if (withBucket) bucketTest()

  function bucketTest(): void {
    test('a bucket works like a directory', { timeout: 900_000 }, async () => {
      const { operator, directory: home } = clusterNow()
      await using server = await startS3Server()
      const { endpoint, region, bucket, accessKey, secretKey } = server
      const secrets = { 'backup-access': accessKey, 'backup-secret': secretKey }
      for (const [name, value] of Object.entries(secrets)) {
        const file = join(home, 'value')
        await writeFile(file, `${value}\n`, { mode: 0o600 })
        await operator.must(0, 'secret', 'set', name, '--from-file', file)
        await rm(file)
      }
      const s3 = {
        ...{ endpoint, region, bucket, prefix: 'clusters/lab' },
        ...{ accessKey: { secret: 'backup-access' }, secretKey: { secret: 'backup-secret' } },
      }
      await operator.edit((document) => document.setIn(['spec', 'etcd', 'backup', 's3'], s3))
      try {
        const stored = await runJson(savedSchema, 'snapshot', 'save')
        expect(stored.stores).toEqual(['s3://backups/clusters/lab/'])
        const { items } = await runJson(listSchema, 'snapshot', 'list')
        expect(items).toEqual([{ name: stored.name, store: 's3://backups/clusters/lab/' }])
        const found = await runJson(verifiedSchema, 'snapshot', 'verify', stored.name)
        expect(found.revision).toBeGreaterThanOrEqual(stored.revision)
        await runJson(savedSchema, 'snapshot', 'save')
        await runEtcd(0, 'snapshot', 'prune', '--keep', '1', '--yes')
        expect((await runJson(listSchema, 'snapshot', 'list', '--from', 's3')).items).toHaveLength(1)
      } finally {
        await operator.edit((document) => document.deleteIn(['spec', 'etcd']))
      }
    })
  }
}

function buildConfigMap(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { word: name } }
}

async function findScratchMembers(): Promise<string> {
  return (await runProgram(['pgrep', '-f', 'etcd.*--name=scratch'], { allowFailure: true })).stdout
}
