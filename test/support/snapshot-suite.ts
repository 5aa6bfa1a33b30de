import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { run } from '../../src/kit/command.ts'
import { until } from '../../src/kit/poll-until.ts'
import { s3Server } from './s3-server.ts'
import type { UpCluster } from './up-cluster.ts'

const saved = z.object({
  name: z.string(),
  size: z.number(),
  keys: z.number(),
  revision: z.number(),
  stores: z.array(z.string()),
})
const verified = z.object({ keys: z.number(), revision: z.number(), seconds: z.number() })
const list = z.object({ items: z.array(z.object({ name: z.string(), store: z.string() })) })

/** Snapshots of a cluster that runs, as a person takes them. */
export function snapshotSuite(clusterNow: () => UpCluster, { bucket: withBucket = false } = {}): void {
  const must = async (code: number, ...words: readonly string[]) =>
    clusterNow().operator.must(code, 'etcd', ...words)
  const json = async <T>(schema: z.ZodType<T>, ...words: readonly string[]): Promise<T> =>
    schema.parse(JSON.parse((await must(0, ...words, '-o', 'json')).stdout))
  const directory = (): string => join(clusterNow().directory, 'snapshots')
  const configMaps = '/api/v1/namespaces/default/configmaps'

  test('etcd status says who leads', async () => {
    const { stdout } = await must(0, 'status')
    expect(stdout).toMatch(/ready\s+leader/)
  })

  test('what is saved can be restored, with every key that was there', { timeout: 300_000 }, async () => {
    const before = await json(saved, 'snapshot', 'save', 'before')
    for (let index = 0; index < 20; index++) {
      await clusterNow().api.create(configMaps, word(`kept-${index}`))
    }
    const after = await json(saved, 'snapshot', 'save')
    expect(after.keys).toBeGreaterThanOrEqual(before.keys + 20)
    expect(after.stores).toEqual([directory()])
    const { mode } = await stat(join(directory(), after.name))
    expect(mode & 0o777).toBe(0o600)
    expect(await readdir(directory())).toEqual(['before.snapshot', after.name].toSorted())
    const first = await json(verified, 'snapshot', 'verify', 'before')
    const second = await json(verified, 'snapshot', 'verify', after.name)
    expect(first.revision).toBeGreaterThanOrEqual(before.revision)
    expect(second.revision).toBeGreaterThanOrEqual(after.revision)
    expect(second.keys - first.keys).toBeGreaterThanOrEqual(20)
    const { items } = await json(list, 'snapshot', 'list')
    expect(items.map(({ name }) => name).toSorted()).toEqual(['before.snapshot', after.name].toSorted())
  })

  test('a flipped byte, a missing end and another cluster’s are refused', async () => {
    const { directory: home, operator } = clusterNow()
    const whole = await readFile(join(directory(), 'before.snapshot'))
    const bytes = Buffer.from(whole)
    const middle = bytes.length >> 1
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
    const file = join(home, 'changed.snapshot')
    await writeFile(file, bytes)
    expect((await must(1, 'snapshot', 'verify', file)).stderr).toContain('SNAPSHOT_CORRUPT')
    await writeFile(file, whole.subarray(0, -2000))
    expect((await must(1, 'snapshot', 'verify', file)).stderr).toContain('SNAPSHOT_TRUNCATED')
    await rm(file)
    const identity = [join(home, 'cluster.identity'), join(home, 'hyperkube/keys/lab.key')]
    for (const path of identity) await rename(path, `${path}.kept`)
    try {
      await operator.must(0, 'init')
      expect((await must(1, 'snapshot', 'verify', 'before')).stderr).toContain('SNAPSHOT_FOREIGN')
    } finally {
      for (const path of identity) await rename(`${path}.kept`, path)
    }
  })

  test('who interrupts it leaves no process and no directory', { timeout: 300_000 }, async () => {
    const { operator } = clusterNow()
    // One that is killed outright leaves its own.
    const directories = async (): Promise<string[]> =>
      (await readdir(tmpdir())).filter((name) => name.startsWith('hyperkube-snapshot-'))
    const before = await directories()
    const verifying = operator.begin('etcd', 'snapshot', 'verify', 'before')
    await until('etcd to be started', async () => (await scratchMembers()) !== '', {
      within: 60_000,
      every: 5,
    })
    verifying.kill('SIGINT')
    expect((await verifying.ended).code).toBe(130)
    expect(await scratchMembers()).toBe('')
    expect(await directories()).toEqual(before)
  })

  test('prune shows what would go, and leaves what a person has named', { timeout: 300_000 }, async () => {
    const last = await json(saved, 'snapshot', 'save')
    const asked = await must(2, 'snapshot', 'prune', '--keep', '1')
    expect(asked.stderr).not.toContain(last.name)
    expect((await readdir(directory())).length).toBe(3)
    await must(0, 'snapshot', 'prune', '--keep', '1', '--yes')
    expect(await readdir(directory())).toEqual(['before.snapshot', last.name].toSorted())
  })

  if (withBucket) bucketTest()

  function bucketTest(): void {
    test('a bucket keeps them as well as a directory does', { timeout: 900_000 }, async () => {
      const { operator, directory: home } = clusterNow()
      await using server = await s3Server()
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
        const put = await json(saved, 'snapshot', 'save')
        expect(put.stores).toEqual(['s3://backups/clusters/lab/'])
        const { items } = await json(list, 'snapshot', 'list')
        expect(items).toEqual([{ name: put.name, store: 's3://backups/clusters/lab/' }])
        const found = await json(verified, 'snapshot', 'verify', put.name)
        expect(found.revision).toBeGreaterThanOrEqual(put.revision)
        await json(saved, 'snapshot', 'save')
        await must(0, 'snapshot', 'prune', '--keep', '1', '--yes')
        expect((await json(list, 'snapshot', 'list', '--from', 's3')).items).toHaveLength(1)
      } finally {
        await operator.edit((document) => document.deleteIn(['spec', 'etcd']))
      }
    })
  }
}

function word(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { word: name } }
}

async function scratchMembers(): Promise<string> {
  return (await run(['pgrep', '-f', 'etcd.*--name=scratch'], { allowFailure: true })).stdout
}
