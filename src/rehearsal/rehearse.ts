import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding } from '../contract/finding.ts'
import type { Secret } from '../pki/secret.ts'
import { type EtcdPrograms, restoreDatabase, startRestoredEtcd } from '../snapshot/temporary-etcd.ts'
import { checkDefinitions, definitionResource } from './check-definitions.ts'
import { endpointSliceResource, findBlockingWebhooks, webhookResources } from './check-webhooks.ts'
import { compareInventories, type ResourceChange } from './compare-inventories.ts'
import { type ApiInventory, type StoredObject, takeInventory } from './inventory.ts'
import { startTemporaryApiServer, type TemporaryApiServer } from './temporary-api-server.ts'

/** Programs of one Kubernetes version on the operator's machine. */
export interface RehearsalPrograms {
  readonly version: string
  readonly etcd: EtcdPrograms
  /** Path of kube-apiserver. */
  readonly apiServer: string
}

export interface RehearsalOptions {
  /** Path of an etcd database. The file itself is not changed. */
  readonly database: string
  /** An empty private directory. The caller removes it. */
  readonly directory: string
  readonly current: RehearsalPrograms
  /** Versions of the upgrade, in order. */
  readonly path: readonly RehearsalPrograms[]
  readonly encryption: Secret
  readonly serviceRange: string
  /** Flags of the cluster that decide which APIs are served. */
  readonly args: Readonly<Record<string, string>>
  readonly now: () => Date
  readonly report: (line: string) => void
  readonly signal: AbortSignal
}

export interface RehearsalReport {
  /** Number of objects in the snapshot, without events and leases. */
  readonly objects: number
  readonly resources: number
  readonly steps: readonly RehearsalStep[]
  readonly findings: readonly Finding[]
}

export interface RehearsalStep {
  readonly version: string
  readonly seconds: number
  /** Objects that this version adds or changes by itself. */
  readonly changes: readonly ResourceChange[]
}

/**
 * Upgrades a copy of the cluster's data through all versions of a path and compares what each version serves.
 * Only etcd and kube-apiserver run, and they connect to no other program.
 */
export async function rehearseUpgrade(options: RehearsalOptions): Promise<RehearsalReport> {
  const { database, directory, current, path, now, report, signal } = options
  await restoreDatabase(current.etcd, database, directory, signal)
  report(`reading all objects with Kubernetes ${current.version}`)
  const first = await runVersion(options, current, async ({ client }) =>
    readObjects(client, undefined, signal),
  )
  const findings: Finding[] = findBlockingWebhooks(first.webhooks, first.endpointSlices)
  const steps: RehearsalStep[] = []
  let before = first.inventory
  for (const programs of path) {
    const { version } = programs
    const startedAt = now().getTime()
    report(`reading all objects with Kubernetes ${version}`)
    const { after, definitionFindings } = await runVersion(options, programs, async ({ client }) => {
      const read = await readObjects(client, before, signal)
      return {
        after: read.inventory,
        definitionFindings: await checkDefinitions(client, read.definitions, version, signal),
      }
    })
    const comparison = compareInventories(before, after, version)
    findings.push(...comparison.findings, ...definitionFindings)
    steps.push({ version, seconds: (now().getTime() - startedAt) / 1000, changes: comparison.changes })
    before = after
  }
  const { resources } = first.inventory
  const objects = [...resources.values()].reduce((sum, one) => sum + one.objects.size, 0)
  return { objects, resources: resources.size, steps, findings }
}

/** Runs etcd and the API server of one version on the restored data. */
async function runVersion<T>(
  { directory, encryption, serviceRange, args, now, signal }: RehearsalOptions,
  { version, etcd, apiServer }: RehearsalPrograms,
  use: (server: TemporaryApiServer) => Promise<T>,
): Promise<T> {
  const configuration = join(directory, version)
  await mkdir(configuration, { mode: 0o700 })
  await using member = await startRestoredEtcd(etcd, directory, signal)
  await using server = await startTemporaryApiServer({
    ...{ program: apiServer, version, etcd: member.endpoint, encryption, serviceRange, args, signal },
    directory: configuration,
    now: now(),
  })
  return await use(server)
}

interface ReadObjects {
  readonly inventory: ApiInventory
  readonly webhooks: readonly StoredObject[]
  readonly endpointSlices: readonly StoredObject[]
  readonly definitions: readonly StoredObject[]
}

/**
 * Takes an inventory. Also keeps the complete webhook configurations, endpoint slices and CRDs, which are
 * checked one by one.
 */
async function readObjects(
  client: TemporaryApiServer['client'],
  previous: ApiInventory | undefined,
  signal: AbortSignal,
): Promise<ReadObjects> {
  const webhooks: StoredObject[] = []
  const endpointSlices: StoredObject[] = []
  const definitions: StoredObject[] = []
  const inventory = await takeInventory(client, {
    apiVersionOf: new Map(
      [...(previous?.resources ?? [])].map(([resource, { apiVersion }]) => [resource, apiVersion]),
    ),
    onObject(resource, object) {
      if (webhookResources.has(resource)) webhooks.push(object)
      if (resource === endpointSliceResource) endpointSlices.push(object)
      if (resource === definitionResource) definitions.push(object)
    },
    signal,
  })
  return { inventory, webhooks, endpointSlices, definitions }
}
