import { z } from 'zod'
import { settleAll } from '../kit/concurrency.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { createUntypedKind, type Kind, type KubeObject } from '../kube/object.ts'
import { listObjects } from '../kube/read-objects.ts'
import type { KubeCallOptions } from '../kube/request.ts'
import { type ContainedObject, decidePrune, type PruneDecision, type UsageIndex } from './decide-prune.ts'
import type { InventoryEntry } from './inventory.ts'
import { findLiveObject } from './live-objects.ts'
import { describeReference, toReference } from './reference.ts'
import { isCrd, isNamespace } from './waves.ts'

export interface PruneWave {
  /** Entries of the wave (see waves.ts) to decide about. */
  readonly entries: readonly InventoryEntry[]
  /** Entries of all waves. */
  readonly all: readonly InventoryEntry[]
  /** Decisions for the waves that are removed earlier. */
  readonly previous: readonly PruneDecision[]
}

/** Reads the objects of the entries and decides for each object whether to remove it. */
export async function decidePrunes(
  client: KubeClient,
  { entries, all, previous }: PruneWave,
  usage: UsageIndex,
  options: KubeCallOptions = {},
): Promise<PruneDecision[]> {
  const removed = previous.flatMap((decision) => (decision.action === 'remove' ? [decision.object] : []))
  const removing = new Set(removed.flatMap(({ metadata }) => metadata.uid ?? []))
  const removedNamespaces = new Set(
    removed.filter((object) => isNamespace(toReference(object))).map(({ metadata }) => metadata.name),
  )
  return settleAll(
    entries.map(async (entry) => {
      const object = await findLiveObject(client, entry, options)
      const contents = object === undefined ? [] : await listContents(client, object, all, options)
      // The objects of a removed namespace are gone before its CRDs are removed.
      const remaining = contents.filter(({ namespace = '' }) => !removedNamespaces.has(namespace))
      return decidePrune(entry, object, remaining, removing, usage)
    }),
  )
}

const rbac = 'rbac.authorization.k8s.io/v1'

/** Kinds of objects that users create. A namespace is not deleted while it contains such user objects. */
const userKinds: readonly Kind[] = [
  createUntypedKind('v1', 'PersistentVolumeClaim'),
  createUntypedKind('v1', 'Secret'),
  createUntypedKind('v1', 'ConfigMap'),
  createUntypedKind('v1', 'Service'),
  createUntypedKind('v1', 'ServiceAccount'),
  createUntypedKind('v1', 'Pod'),
  createUntypedKind('apps/v1', 'Deployment'),
  createUntypedKind('apps/v1', 'DaemonSet'),
  createUntypedKind('apps/v1', 'StatefulSet'),
  createUntypedKind('batch/v1', 'CronJob'),
  createUntypedKind('batch/v1', 'Job'),
  createUntypedKind('networking.k8s.io/v1', 'Ingress'),
  createUntypedKind('networking.k8s.io/v1', 'NetworkPolicy'),
  createUntypedKind(rbac, 'Role'),
  createUntypedKind(rbac, 'RoleBinding'),
]

/** Objects that Kubernetes creates in every namespace. */
const defaultObjects = new Set(['ConfigMap kube-root-ca.crt', 'ServiceAccount default'])

const ownedSchema = z.looseObject({ ownerReferences: z.array(z.unknown()).min(1) })

const crdSchema = z.looseObject({
  spec: z.looseObject({
    group: z.string(),
    names: z.looseObject({ kind: z.string() }),
    scope: z.string().optional(),
    versions: z.array(z.looseObject({ name: z.string(), served: z.boolean() })),
  }),
})

/**
 * Lists the objects that would be deleted together with a namespace or a CRD. Empty for other objects. `all`
 * are the entries of the addon, whose CRDs define further kinds of objects that a namespace may contain.
 */
async function listContents(
  client: KubeClient,
  object: KubeObject,
  all: readonly InventoryEntry[],
  options: KubeCallOptions = {},
): Promise<readonly ContainedObject[]> {
  const reference = toReference(object)
  if (isCrd(reference)) return listCustomResources(client, object, options)
  if (!isNamespace(reference)) return []
  const inNamespace = { namespace: reference.name, ...options }
  const definitions = await settleAll(
    all.filter(isCrd).map(async (entry) => findLiveObject(client, entry, options)),
  )
  const kinds = [...userKinds, ...definitions.flatMap((crd) => findServedKind(crd, 'Namespaced') ?? [])]
  const lists = await settleAll(kinds.map(async (kind) => listExisting(client, kind, inNamespace)))
  return lists
    .flat()
    .filter(({ kind, metadata }) => !defaultObjects.has(`${kind} ${metadata.name}`))
    .filter(({ metadata }) => !ownedSchema.safeParse(metadata).success)
    .map(toContainedObject)
}

async function listCustomResources(
  client: KubeClient,
  crd: KubeObject,
  options: KubeCallOptions,
): Promise<ContainedObject[]> {
  const kind = findServedKind(crd)
  if (kind === undefined) return [{ uid: undefined, description: 'objects of versions that are not served' }]
  return (await listExisting(client, kind, options)).map(toContainedObject)
}

/** Returns the kind that a CRD defines; undefined without a served version, or with another scope. */
function findServedKind(crd: KubeObject | undefined, onlyScope?: string): Kind | undefined {
  if (crd === undefined) return undefined
  const { group, names, scope, versions } = crdSchema.parse(crd).spec
  const served = versions.find((version) => version.served)
  if (served === undefined || (onlyScope !== undefined && scope !== onlyScope)) return undefined
  return createUntypedKind(`${group}/${served.name}`, names.kind)
}

function toContainedObject(object: KubeObject): ContainedObject {
  const { uid, namespace } = object.metadata
  return { uid, namespace, description: describeReference(toReference(object)) }
}

async function listExisting(
  client: KubeClient,
  kind: Kind,
  options: KubeCallOptions & { readonly namespace?: string },
): Promise<readonly KubeObject[]> {
  try {
    return (await listObjects(client, kind, options)).items
  } catch (error) {
    // A kind whose CRD was never established has no objects.
    if (isKubeError(error, 'KUBE_KIND_UNKNOWN') || isKubeError(error, 'KUBE_NOT_FOUND')) return []
    throw error
  }
}
