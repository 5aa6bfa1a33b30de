import { findUnreadyReason } from '../../addons/readiness.ts'
import { formatReferenceKey, type ObjectReference, toReference } from '../../addons/reference.ts'
import { isCrd } from '../../addons/waves.ts'
import { createSemaphore, settleAll } from '../../kit/concurrency.ts'
import { pollUntil } from '../../kit/poll.ts'
import type { KubeClient } from '../../kube/client.ts'
import { buildHostRbac, hostKind } from '../../kube/host-resource.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { createUntypedKind, type Kind, type KubeObject, type Manifest, satisfies } from '../../kube/object.ts'
import { findObject, listObjects, objectExists } from '../../kube/read-objects.ts'
import { isRemovedHosts, listReadmitted, readmitHost } from '../../kube/removed-hosts.ts'
import { applyObject, deleteKubeObject } from '../../kube/write-objects.ts'
import type { ClusterObjectChange } from './changes.ts'
import { findOwningHost, type ManagedObjects, partLabel } from './managed-objects.ts'
import { nodeKind } from './node.ts'

const rbac = 'rbac.authorization.k8s.io/v1'
const admission = 'admissionregistration.k8s.io/v1'

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
  createUntypedKind(admission, 'MutatingAdmissionPolicy'),
  createUntypedKind(admission, 'MutatingAdmissionPolicyBinding'),
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
  const removedHosts = found[base.findIndex(isRemovedHosts)]
  return [
    ...base.flatMap((manifest, index) => compareObject(manifest, found[index])),
    ...listReadmitted(removedHosts, nodes).map((node) => ({ kind: 'readmission', node }) as const),
    ...labelled.flatMap((manifest) =>
      compareObject(manifest, present.get(formatReferenceKey(toReference(manifest)))),
    ),
    ...(await findOrphans(api, toPrune, nodes)),
  ]
}

function compareObject(manifest: Manifest, object: KubeObject | undefined): ClusterObjectChange[] {
  return satisfies(object, manifest) ? [] : [{ kind: 'object', manifest, previous: object }]
}

async function listLabelled(api: KubeClient, kind: Kind): Promise<readonly KubeObject[]> {
  try {
    const { items } = await listObjects(api, kind, { labels: partLabel })
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  } catch (error) {
    // The CRD of this kind does not exist yet, so there are no objects.
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
  const unknown = [...names].filter((name) => !nodes.has(name))
  const removing = await settleAll(
    unknown.map(async (name) => ((await objectExists(api, nodeKind, { name })) ? [name] : [])),
  )
  const keptNodes = new Set([...nodes, ...removing.flat()])
  return objects
    .filter((object) => !keptNodes.has(findOwningHost(object) ?? ''))
    .map((object) => ({ kind: 'orphan', object }))
}

/** Maximum number of concurrent requests. */
const maxConcurrent = 16
/**
 * Timeout for a new CRD and its objects. It is long enough for all API servers, which each establish the CRD
 * separately.
 */
const applyTimeoutMs = 60_000

/**
 * Applies changed objects and deletes orphans. Objects are applied with force, because RBAC rules must be
 * exactly the desired ones.
 */
export async function applyObjectChanges(
  api: KubeClient,
  changes: readonly ClusterObjectChange[],
): Promise<void> {
  const desired = changes.flatMap((change) => (change.kind === 'object' ? [change.manifest] : []))
  const [hostObjects, others] = partition(desired, ({ kind }) => kind === hostKind.kind)
  await forEachConcurrently(others, async (manifest) => applyObject(api, manifest, { force: true }))
  await forEachConcurrently(
    others.filter((manifest) => isCrd(toReference(manifest))),
    async (manifest) => waitUntilEstablished(api, manifest),
  )
  for (const change of changes) if (change.kind === 'readmission') await readmitHost(api, change.node)
  await forEachConcurrently(hostObjects, async (manifest) => applyDefined(api, manifest))
  const orphans = changes.flatMap((change) => (change.kind === 'orphan' ? [change.object] : []))
  // CRDs are deleted last, because deleting a CRD also deletes all objects of its kind.
  const [definitions, rest] = partition(orphans, isCrd)
  await forEachConcurrently(rest, async (object) => deleteObject(api, object))
  await forEachConcurrently(definitions, async (object) => deleteObject(api, object))
}

/** Deletes the Host object and the RBAC objects of a host that is being removed. */
export async function removeHostObjects(api: KubeClient, node: string): Promise<void> {
  const { apiVersion, kind } = hostKind
  const rules = buildHostRbac(node).map(toReference)
  await forEachConcurrently([{ apiVersion, kind, name: node }, ...rules], async (object) =>
    deleteObject(api, object),
  )
}

async function waitUntilEstablished(api: KubeClient, manifest: Manifest): Promise<void> {
  const { apiVersion, kind, metadata } = manifest
  const check = async (): Promise<boolean> => {
    const found = await findObject(api, createUntypedKind(apiVersion, kind), metadata)
    // The CRD is missing if an earlier one of the same name was still terminating when this one was applied.
    // The CRD is then applied again.
    const object = found ?? (await applyObject(api, manifest, { force: true }))
    return findUnreadyReason(object) === undefined
  }
  await pollUntil(`the API to establish ${metadata.name}`, check, {
    timeoutMs: applyTimeoutMs,
    signal: api.signal,
  })
}

/** Applies an object of a new CRD. Retries, because another API server may not know the CRD yet. */
async function applyDefined(api: KubeClient, manifest: Manifest): Promise<void> {
  const attempt = async (): Promise<{ readonly made: Promise<unknown> } | undefined> => {
    const made = applyObject(api, manifest, { force: true })
    const isUnknown = await made.then(
      () => false,
      (error: unknown) => isKubeError(error, 'KUBE_NOT_FOUND'),
    )
    return isUnknown ? undefined : { made }
  }
  const what = `the API to serve the kind ${manifest.kind}`
  const { made } = await pollUntil(what, attempt, { timeoutMs: applyTimeoutMs, signal: api.signal })
  await made
}

async function deleteObject(
  api: KubeClient,
  { apiVersion, kind, ...reference }: ObjectReference,
): Promise<void> {
  await deleteKubeObject(api, createUntypedKind(apiVersion, kind), reference)
}

async function forEachConcurrently<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const runLimited = createSemaphore(maxConcurrent)
  await settleAll(all.map(async (one) => runLimited(async () => work(one))))
}

function partition<T>(all: readonly T[], is: (one: T) => boolean): readonly [T[], T[]] {
  return [all.filter(is), all.filter((one) => !is(one))]
}
