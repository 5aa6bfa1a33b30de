import { keyOf, referenceOf } from '../../addons/reference.ts'
import { settleAll } from '../../kit/settle-all.ts'
import type { KubeClient } from '../../kube/client.ts'
import { hosts } from '../../kube/host-resource.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { type Kind, kindOf, type KubeObject, type Manifest } from '../../kube/object.ts'
import { exists, find, list } from '../../kube/read-objects.ts'
import { satisfies } from '../../kube/satisfies.ts'
import type { InsideChange } from './changes.ts'
import { nodeKind } from './node.ts'
import { hostOf, type OwnObjects, partLabel } from './managed-objects.ts'

const rbac = 'rbac.authorization.k8s.io/v1'

/** What there is of marked objects. They are as many as hosts, and so looked at by lists. */
const markedKinds: readonly Kind[] = [
  kindOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
  kindOf(rbac, 'ClusterRole'),
  kindOf(rbac, 'ClusterRoleBinding'),
  kindOf(rbac, 'Role'),
  kindOf(rbac, 'RoleBinding'),
  kindOf(hosts.apiVersion, hosts.kind),
]

/** What is not there yet, or is not what it should be, or should not be there. */
export async function objectChanges(
  api: KubeClient,
  { base, marked, nodes }: OwnObjects,
): Promise<InsideChange[]> {
  const [found, listed] = await Promise.all([
    settleAll(
      base.map(async ({ apiVersion, kind, metadata }) => find(api, kindOf(apiVersion, kind), metadata)),
    ),
    settleAll(markedKinds.map(async (kind) => listedOf(api, kind))),
  ])
  const there = new Map(listed.flat().map((object) => [keyOf(referenceOf(object)), object]))
  const wished = new Set(marked.map((manifest) => keyOf(referenceOf(manifest))))
  const unwished = [...there].flatMap(([key, object]) => (wished.has(key) ? [] : [object]))
  return [
    ...base.flatMap((manifest, index) => changeOf(manifest, found[index])),
    ...marked.flatMap((manifest) => changeOf(manifest, there.get(keyOf(referenceOf(manifest))))),
    ...(await strays(api, unwished, nodes)),
  ]
}

function changeOf(manifest: Manifest, object: KubeObject | undefined): InsideChange[] {
  return satisfies(object, manifest) ? [] : [{ kind: 'object', manifest }]
}

async function listedOf(api: KubeClient, kind: Kind): Promise<readonly KubeObject[]> {
  try {
    const { items } = await list(api, kind, { labels: partLabel })
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  } catch (error) {
    // Nobody has defined it yet.
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return []
    throw error
  }
}

/** A host that is not planned now keeps what is its own; one that leaves loses it with its node. */
async function strays(
  api: KubeClient,
  unwished: readonly KubeObject[],
  nodes: OwnObjects['nodes'],
): Promise<InsideChange[]> {
  const objects = unwished.map(referenceOf)
  const names = new Set(objects.flatMap((object) => hostOf(object) ?? []))
  const unknown = [...names].filter((name) => nodes !== undefined && !nodes.has(name))
  const leaving = await settleAll(
    unknown.map(async (name) => ((await exists(api, nodeKind, { name })) ? [name] : [])),
  )
  const kept = new Set([...(nodes ?? []), ...leaving.flat()])
  return objects
    .filter((object) => !kept.has(hostOf(object) ?? ''))
    .map((object) => ({ kind: 'stray', object }))
}
