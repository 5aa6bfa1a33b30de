import { z } from 'zod'
import { mapInBatches, settleAll } from '../kit/concurrency.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { createUntypedKind, type Kind, type KubeObject } from '../kube/object.ts'
import { listObjects } from '../kube/read-objects.ts'
import type { KubeCallOptions } from '../kube/request.ts'
import { type ContainedObject, decidePrune, type PruneDecision, type UsageIndex } from './decide-prune.ts'
import type { InventoryEntry } from './inventory.ts'
import { batchSize, findLiveObject } from './live-objects.ts'
import { describeReference, toReference } from './reference.ts'
import { isCrd, isNamespace } from './waves.ts'

export interface PruneWave {
  /** Entries of the wave (see waves.ts) to decide about. */
  readonly entries: readonly InventoryEntry[]
  /** Decisions for the waves that are removed earlier. */
  readonly previous: readonly PruneDecision[]
}

/** Reads the objects of the entries and decides for each object whether to remove it. */
export async function decidePrunes(
  client: KubeClient,
  { entries, previous }: PruneWave,
  usage: UsageIndex,
  options: KubeCallOptions = {},
): Promise<PruneDecision[]> {
  const removed = previous.flatMap((decision) => (decision.action === 'remove' ? [decision.object] : []))
  const removing = new Set(removed.flatMap(({ metadata }) => metadata.uid ?? []))
  const removedNamespaces = new Set(
    removed.filter((object) => isNamespace(toReference(object))).map(({ metadata }) => metadata.name),
  )
  return mapInBatches(batchSize, entries, async (entry) => {
    const object = await findLiveObject(client, entry, options)
    const contents = object === undefined ? [] : await listContents(client, object, options)
    // The objects of a removed namespace are gone before its CRDs are removed.
    const remaining = contents.filter(({ namespace = '' }) => !removedNamespaces.has(namespace))
    return decidePrune(entry, object, remaining, removing, usage)
  })
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
  status: z
    .looseObject({
      conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).nullish(),
    })
    .optional(),
})

const crdKind = createUntypedKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition')

/** Lists the objects that would be deleted together with a namespace or a CRD. Empty for other objects. */
async function listContents(
  client: KubeClient,
  object: KubeObject,
  options: KubeCallOptions = {},
): Promise<readonly ContainedObject[]> {
  const reference = toReference(object)
  if (isCrd(reference)) return listCustomResources(client, object, options)
  if (!isNamespace(reference)) return []
  const inNamespace = { namespace: reference.name, ...options }
  // Other CRDs count too. What a user's custom resource owns, such as a volume claim, would be deleted with it.
  const definitions = (await listObjects(client, crdKind, options)).items.map(parseDefinition)
  const kinds = [
    ...userKinds.map((kind): ListedKind => ({ kind, isEstablished: false })),
    ...definitions.flatMap(({ listed, scope }) =>
      scope === 'Namespaced' && listed !== undefined ? [listed] : [],
    ),
  ]
  return (await settleAll(kinds.map(async (kind) => listExisting(client, kind, inNamespace)))).flat()
}

async function listCustomResources(
  client: KubeClient,
  crd: KubeObject,
  options: KubeCallOptions,
): Promise<readonly ContainedObject[]> {
  const { listed } = parseDefinition(crd)
  if (listed === undefined)
    return [{ uid: undefined, description: 'objects of versions that are not served' }]
  return listExisting(client, listed, options)
}

interface ListedKind {
  readonly kind: Kind
  /** True for the kind of a CRD that the API server has accepted, so that objects of the kind may exist. */
  readonly isEstablished: boolean
}

interface Definition {
  readonly scope: string | undefined
  /** The kind in a version that the API serves; undefined if it serves none. */
  readonly listed: ListedKind | undefined
}

function parseDefinition(crd: KubeObject): Definition {
  const { spec, status } = crdSchema.parse(crd)
  const { group, names, scope, versions } = spec
  const served = versions.find((version) => version.served)
  if (served === undefined) return { scope, listed: undefined }
  const conditions = status?.conditions ?? []
  const isEstablished = conditions.some(
    ({ type, status: value }) => type === 'Established' && value === 'True',
  )
  return { scope, listed: { kind: createUntypedKind(`${group}/${served.name}`, names.kind), isEstablished } }
}

/**
 * Lists the objects of a kind; in a namespace only those that nothing owns. If the API cannot list them, the
 * result has one entry that stands for them, so that they are not deleted.
 */
async function listExisting(
  client: KubeClient,
  { kind, isEstablished }: ListedKind,
  options: KubeCallOptions & { readonly namespace?: string },
): Promise<readonly ContainedObject[]> {
  try {
    return (await listObjects(client, kind, options)).items
      .filter((object) => options.namespace === undefined || isUserObject(object))
      .map(toContainedObject)
  } catch (error) {
    const isUnknown = isKubeError(error, 'KUBE_KIND_UNKNOWN') || isKubeError(error, 'KUBE_NOT_FOUND')
    // A kind whose CRD was never established has no objects.
    if (isUnknown && !isEstablished) return []
    if (!isUnknown && !isKubeError(error, 'KUBE_SERVER')) throw error
    const { namespace } = options
    return [{ uid: undefined, namespace, description: `${kind.kind} objects, which the API cannot list now` }]
  }
}

/** False for an object that Kubernetes creates in every namespace, or that another object owns. */
function isUserObject({ kind, metadata }: KubeObject): boolean {
  return !defaultObjects.has(`${kind} ${metadata.name}`) && !ownedSchema.safeParse(metadata).success
}

function toContainedObject(object: KubeObject): ContainedObject {
  const { uid, namespace } = object.metadata
  return { uid, namespace, description: describeReference(toReference(object)) }
}
