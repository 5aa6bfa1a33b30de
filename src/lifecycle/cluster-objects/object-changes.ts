import { formatReferenceKey, toReference } from '../../addons/reference.ts'
import { settleAll } from '../../kit/settle-all.ts'
import type { KubeClient } from '../../kube/client.ts'
import { hostKind } from '../../kube/host-resource.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { type Kind, createUntypedKind, type KubeObject, type Manifest } from '../../kube/object.ts'
import { objectExists, findObject, listObjects } from '../../kube/read-objects.ts'
import { satisfies } from '../../kube/satisfies.ts'
import type { ClusterObjectChange } from './changes.ts'
import { nodeKind } from './node.ts'
import { findOwningHost, type ManagedObjects, partLabel } from './managed-objects.ts'

const rbac = 'rbac.authorization.k8s.io/v1'

/**
 * Kinds of labelled objects. Some kinds have one object for each host, so objects are read with one list
 * request per kind.
 */
const labelledKinds: readonly Kind[] = [
  createUntypedKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
  createUntypedKind(rbac, 'ClusterRole'),
  createUntypedKind(rbac, 'ClusterRoleBinding'),
  createUntypedKind(rbac, 'Role'),
  createUntypedKind(rbac, 'RoleBinding'),
  createUntypedKind(hostKind.apiVersion, hostKind.kind),
]

/** Finds objects to create, change or prune. */
export async function findObjectChanges(
  api: KubeClient,
  { base, labelled, nodes }: ManagedObjects,
): Promise<ClusterObjectChange[]> {
  const [found, listed] = await Promise.all([
    settleAll(
      base.map(async ({ apiVersion, kind, metadata }) =>
        findObject(api, createUntypedKind(apiVersion, kind), metadata),
      ),
    ),
    settleAll(labelledKinds.map(async (kind) => listLabelled(api, kind))),
  ])
  const present = new Map(listed.flat().map((object) => [formatReferenceKey(toReference(object)), object]))
  const desired = new Set(labelled.map((manifest) => formatReferenceKey(toReference(manifest))))
  const toPrune = [...present].flatMap(([key, object]) => (desired.has(key) ? [] : [object]))
  return [
    ...base.flatMap((manifest, index) => compareObject(manifest, found[index])),
    ...labelled.flatMap((manifest) =>
      compareObject(manifest, present.get(formatReferenceKey(toReference(manifest)))),
    ),
    ...(await findOrphans(api, toPrune, nodes)),
  ]
}

function compareObject(manifest: Manifest, object: KubeObject | undefined): ClusterObjectChange[] {
  return satisfies(object, manifest) ? [] : [{ kind: 'object', manifest }]
}

async function listLabelled(api: KubeClient, kind: Kind): Promise<readonly KubeObject[]> {
  try {
    const { items } = await listObjects(api, kind, { labels: partLabel })
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  } catch (error) {
    // The CRD of this kind does not exist yet.
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return []
    throw error
  }
}

/**
 * Finds objects to prune. Objects of an unreachable host stay. Objects of a host to remove stay as long as
 * its node exists.
 */
async function findOrphans(
  api: KubeClient,
  toPrune: readonly KubeObject[],
  nodes: ManagedObjects['nodes'],
): Promise<ClusterObjectChange[]> {
  const objects = toPrune.map(toReference)
  const names = new Set(objects.flatMap((object) => findOwningHost(object) ?? []))
  const unknown = [...names].filter((name) => nodes !== undefined && !nodes.has(name))
  const removing = await settleAll(
    unknown.map(async (name) => ((await objectExists(api, nodeKind, { name })) ? [name] : [])),
  )
  const keptNodes = new Set([...(nodes ?? []), ...removing.flat()])
  return objects
    .filter((object) => !keptNodes.has(findOwningHost(object) ?? ''))
    .map((object) => ({ kind: 'orphan', object }))
}
