import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { z } from 'zod'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { UpCluster } from './up-cluster.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'

const savedSchema = z.object({
  name: z.string(),
  size: z.number(),
  keys: z.number(),
  revision: z.number(),
  stores: z.array(z.string()),
})
const verifiedSchema = z.object({ keys: z.number(), revision: z.number(), seconds: z.number() })
const listSchema = z.object({ items: z.array(z.object({ name: z.string(), store: z.string() })) })

/**
 * Saves two snapshots, and verifies that a restore of the second has the keys that were added after the
 * first.
 */
export async function expectSnapshotRestorable(cluster: UpCluster): Promise<void> {
  const before = await runJson(cluster, savedSchema, 'snapshot', 'save', 'before')
  for (let index = 0; index < 20; index++) {
    await cluster.api.create(configMaps, buildConfigMap(`kept-${index}`))
  }
  const after = await runJson(cluster, savedSchema, 'snapshot', 'save')
  expect(after.keys).toBeGreaterThanOrEqual(before.keys + 20)
  expect(after.stores).toEqual([getSnapshotDirectory(cluster)])
  const { mode } = await stat(join(getSnapshotDirectory(cluster), after.name))
  expect(mode & 0o777).toBe(0o600)
  expect(await readdir(getSnapshotDirectory(cluster))).toEqual(['before.snapshot', after.name].toSorted())
  const first = await runJson(cluster, verifiedSchema, 'snapshot', 'verify', 'before')
  const second = await runJson(cluster, verifiedSchema, 'snapshot', 'verify', after.name)
  expect(first.revision).toBeGreaterThanOrEqual(before.revision)
  expect(second.revision).toBeGreaterThanOrEqual(after.revision)
  expect(second.keys - first.keys).toBeGreaterThanOrEqual(20)
  const { items } = await runJson(cluster, listSchema, 'snapshot', 'list')
  expect(items.map(({ name }) => name).toSorted()).toEqual(['before.snapshot', after.name].toSorted())
}

export async function expectBadSnapshotsRefused(cluster: UpCluster): Promise<void> {
  const { directory: home, operator } = cluster
  const original = await readFile(join(getSnapshotDirectory(cluster), 'before.snapshot'))
  const bytes = Buffer.from(original)
  const middle = bytes.length >> 1
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
  const file = join(home, 'changed.snapshot')
  await writeFile(file, bytes)
  expect((await runEtcd(cluster, 1, 'snapshot', 'verify', file)).stderr).toContain('SNAPSHOT_CORRUPT')
  await writeFile(file, original.subarray(0, -2000))
  expect((await runEtcd(cluster, 1, 'snapshot', 'verify', file)).stderr).toContain('SNAPSHOT_TRUNCATED')
  await rm(file)
  const identity = [join(home, 'cluster.identity'), join(home, 'hyperkube/keys/lab.key')]
  for (const path of identity) await rename(path, `${path}.kept`)
  try {
    await operator.must(0, 'init')
    expect((await runEtcd(cluster, 1, 'snapshot', 'verify', 'before')).stderr).toContain('SNAPSHOT_FOREIGN')
  } finally {
    for (const path of identity) await rename(`${path}.kept`, path)
  }
}

export async function expectInterruptedVerifyCleanedUp(cluster: UpCluster): Promise<void> {
  const { operator } = cluster
  // Only new directories count, because a killed earlier run leaves its directory.
  const directories = async (): Promise<string[]> =>
    (await readdir(tmpdir())).filter((name) => name.startsWith('hyperkube-work-'))
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
}

export async function expectPruneKeepsNamedSnapshots(cluster: UpCluster): Promise<void> {
  const last = await runJson(cluster, savedSchema, 'snapshot', 'save')
  const prompted = await runEtcd(cluster, 2, 'snapshot', 'prune', '--keep', '1')
  expect(prompted.stderr).not.toContain(last.name)
  expect((await readdir(getSnapshotDirectory(cluster))).length).toBe(3)
  await runEtcd(cluster, 0, 'snapshot', 'prune', '--keep', '1', '--yes')
  expect(await readdir(getSnapshotDirectory(cluster))).toEqual(['before.snapshot', last.name].toSorted())
}

/** Runs a subcommand of `hyperkube etcd`, which must exit with `code`. */
async function runEtcd(
  { operator }: UpCluster,
  code: number,
  ...args: readonly string[]
): Promise<CommandResult> {
  return operator.must(code, 'etcd', ...args)
}

async function runJson<T>(cluster: UpCluster, schema: z.ZodType<T>, ...args: readonly string[]): Promise<T> {
  return schema.parse(JSON.parse((await runEtcd(cluster, 0, ...args, '-o', 'json')).stdout))
}

function getSnapshotDirectory({ directory }: UpCluster): string {
  return join(directory, 'snapshots')
}

function buildConfigMap(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { word: name } }
}

async function findScratchMembers(): Promise<string> {
  return (await runProgram(['pgrep', '-f', 'etcd.*--name=scratch'], { allowFailure: true })).stdout
}
