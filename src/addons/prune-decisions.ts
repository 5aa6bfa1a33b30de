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

/**
 * Reads the objects of the entries and decides for each object whether to remove it. `previous` contains the
 * decisions for the waves (see waves.ts) that are removed earlier.
 */
export async function decidePrunes(
  client: KubeClient,
  entries: readonly InventoryEntry[],
  usage: UsageIndex,
  previous: readonly PruneDecision[],
  options: KubeCallOptions = {},
): Promise<PruneDecision[]> {
  const removing = new Set(
    previous.flatMap((decision) =>
      decision.action === 'remove' ? (decision.object.metadata.uid ?? []) : [],
    ),
  )
  return settleAll(
    entries.map(async (entry) => {
      const object = await findLiveObject(client, entry, options)
      const contents = object === undefined ? [] : await listContents(client, object, options)
      return decidePrune(entry, object, contents, removing, usage)
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
    versions: z.array(z.looseObject({ name: z.string(), served: z.boolean() })),
  }),
})

/** Lists the objects that would be deleted together with a namespace or a CRD. Empty for other objects. */
async function listContents(
  client: KubeClient,
  object: KubeObject,
  options: KubeCallOptions = {},
): Promise<ContainedObject[]> {
  const reference = toReference(object)
  if (isNamespace(reference)) {
    const all = await settleAll(
      userKinds.map(async (kind) => listExisting(client, kind, { namespace: reference.name, ...options })),
    )
    return all
      .flat()
      .filter(({ kind, metadata }) => !defaultObjects.has(`${kind} ${metadata.name}`))
      .filter(({ metadata }) => !ownedSchema.safeParse(metadata).success)
      .map(toContainedObject)
  }
  if (!isCrd(reference)) return []
  const { group, names, versions } = crdSchema.parse(object).spec
  const served = versions.find((version) => version.served)
  if (served === undefined)
    return [{ uid: undefined, description: 'objects of versions that are not served' }]
  return (await listExisting(client, createUntypedKind(`${group}/${served.name}`, names.kind), options)).map(
    toContainedObject,
  )
}

function toContainedObject(object: KubeObject): ContainedObject {
  return { uid: object.metadata.uid, description: describeReference(toReference(object)) }
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
