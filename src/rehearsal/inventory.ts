import { z } from 'zod'
import { computeDigest } from '../diff/resource.ts'
import { formatError } from '../kit/errors.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { parseKubeResponse } from '../kube/object.ts'
import { versionPath } from '../kube/resources.ts'

/** Everything that an API server serves from its etcd. */
export interface ApiInventory {
  /** API versions that the server serves, for example apps/v1. */
  readonly apiVersions: ReadonlySet<string>
  /** Key: plural and group, for example deployments.apps. */
  readonly resources: ReadonlyMap<string, ResourceInventory>
}

export interface ResourceInventory {
  /** API version in which the objects were listed. */
  readonly apiVersion: string
  /** Key: name, or namespace and name. */
  readonly objects: ReadonlyMap<string, ObjectRecord>
  /** Why the objects could not be listed. */
  readonly error?: string
}

export interface ObjectRecord {
  /** Digest of the object without its status and without fields that every write changes. */
  readonly digest: string
  /** Key: API version with which clients wrote the object. Value: name of the last of these clients. */
  readonly writers: ReadonlyMap<string, string>
}

/** Resources that an inventory leaves out, because their objects expire or are renewed all the time. */
const shortLived: ReadonlySet<string> = new Set([
  'events',
  'events.events.k8s.io',
  'leases.coordination.k8s.io',
])

/**
 * Fields of an object that an inventory reads. All other fields are kept, because the digest includes them.
 */
const storedObject = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    annotations: z.record(z.string(), z.string()).optional(),
    managedFields: z
      .array(z.looseObject({ apiVersion: z.string().optional(), manager: z.string().optional() }))
      .optional(),
  }),
})
export type StoredObject = z.infer<typeof storedObject>

export interface InventoryOptions {
  /**
   * API version in which to list each resource, if the server still serves it. Default: the preferred
   * version.
   */
  readonly apiVersionOf?: ReadonlyMap<string, string>
  /** Called with each complete object, because an inventory keeps only digests. */
  readonly onObject?: (resource: string, object: StoredObject) => void
  readonly signal: AbortSignal
}

/**
 * Lists every object of an API server once. If a resource cannot be listed, the inventory records the error
 * and continues.
 */
export async function takeInventory(client: KubeClient, options: InventoryOptions): Promise<ApiInventory> {
  const { signal, apiVersionOf = new Map<string, string>() } = options
  const groups = await listGroups(client, signal)
  const resources = new Map<string, ResourceInventory>()
  for (const { versions, preferred } of groups) {
    for (const apiVersion of [preferred, ...versions.filter((version) => version !== preferred)]) {
      for (const { name, resource } of await listResources(client, apiVersion, signal)) {
        if (
          shortLived.has(resource) ||
          (resources.has(resource) && apiVersionOf.get(resource) !== apiVersion)
        )
          continue
        resources.set(resource, await listResource(client, { apiVersion, name, resource }, options))
      }
    }
  }
  return { apiVersions: new Set(groups.flatMap(({ versions }) => versions)), resources }
}

interface ApiGroup {
  readonly versions: readonly string[]
  readonly preferred: string
}

const groupList = z.looseObject({
  groups: z.array(
    z.looseObject({
      versions: z.array(z.looseObject({ groupVersion: z.string() })),
      preferredVersion: z.looseObject({ groupVersion: z.string() }),
    }),
  ),
})

async function listGroups(client: KubeClient, signal: AbortSignal): Promise<ApiGroup[]> {
  const path = '/apis'
  const { groups } = parseKubeResponse(groupList, await client.request({ method: 'GET', path, signal }), path)
  return [
    { versions: ['v1'], preferred: 'v1' },
    ...groups.map(({ versions, preferredVersion }) => ({
      versions: versions.map(({ groupVersion }) => groupVersion),
      preferred: preferredVersion.groupVersion,
    })),
  ]
}

const resourceList = z.looseObject({
  resources: z.array(z.looseObject({ name: z.string(), verbs: z.array(z.string()) })),
})

interface ListedResource {
  readonly name: string
  readonly apiVersion: string
  /** Plural and group. */
  readonly resource: string
}

/**
 * Lists the stored resources of an API version. Skips resources without the verb create, because they are
 * computed and not stored.
 */
async function listResources(
  client: KubeClient,
  apiVersion: string,
  signal: AbortSignal,
): Promise<ListedResource[]> {
  const path = versionPath(apiVersion)
  const response = await client.request({ method: 'GET', path, signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    // An aggregated API is skipped, because the pod that serves it does not run here. This etcd has none of
    // its objects.
    if (isKubeError(error, 'KUBE_SERVER') || isKubeError(error, 'KUBE_NOT_FOUND')) return { resources: [] }
    throw error
  })
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : ['']
  return parseKubeResponse(resourceList, response, path)
    .resources.filter(
      ({ name, verbs }) => !name.includes('/') && verbs.includes('list') && verbs.includes('create'),
    )
    .map(({ name }) => ({ name, apiVersion, resource: group === '' ? name : `${name}.${group}` }))
}

const objectList = z.looseObject({
  metadata: z.looseObject({ continue: z.string().optional() }),
  items: z.array(storedObject).nullish(),
})

async function listResource(
  client: KubeClient,
  { name, apiVersion, resource }: ListedResource,
  { onObject, signal }: InventoryOptions,
): Promise<ResourceInventory> {
  const path = `${versionPath(apiVersion)}/${name}`
  const objects = new Map<string, ObjectRecord>()
  let next: string | undefined
  try {
    do {
      const query = { limit: 500, continue: next }
      const response = await client.request({ method: 'GET', path, query, once: true, signal })
      const { items, metadata } = parseKubeResponse(objectList, response, path)
      for (const item of items ?? []) {
        const { namespace, name: objectName } = item.metadata
        const key = namespace === undefined ? objectName : `${namespace}/${objectName}`
        objects.set(key, { digest: computeObjectDigest(item), writers: listWriters(item) })
        onObject?.(resource, item)
      }
      next = metadata.continue
    } while (next !== undefined && next !== '')
  } catch (error) {
    signal.throwIfAborted()
    return { apiVersion, objects, error: formatError(error) }
  }
  return { apiVersion, objects }
}

export function computeObjectDigest({ status: _status, metadata, ...content }: StoredObject): string {
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, ...kept } = metadata
  return computeDigest({ ...content, metadata: kept })
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
const appliedObject = z.looseObject({ apiVersion: z.string() })

/** Returns the API versions with which clients wrote an object, each with the name of the last client. */
export function listWriters({ metadata }: StoredObject): ReadonlyMap<string, string> {
  const writers = new Map<string, string>()
  for (const { apiVersion, manager = 'unknown client' } of metadata.managedFields ?? []) {
    if (apiVersion !== undefined) writers.set(apiVersion, manager)
  }
  const applied = parseApplied(metadata.annotations?.[lastApplied])
  if (applied !== undefined) writers.set(applied, 'kubectl apply')
  return writers
}

/**
 * Returns the API version of the manifest that kubectl applied last. Returns undefined for invalid text,
 * because any client may write this annotation.
 */
function parseApplied(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  try {
    return appliedObject.safeParse(JSON.parse(text)).data?.apiVersion
  } catch {
    return undefined
  }
}
