import { isCrd } from '../../addons/waves.ts'
import { findUnreadyReason } from '../../addons/readiness.ts'
import { type ObjectReference, toReference } from '../../addons/reference.ts'
import { createSemaphore } from '../../kit/semaphore.ts'
import { settleAll } from '../../kit/settle-all.ts'
import { pollUntil } from '../../kit/poll-until.ts'
import type { KubeClient } from '../../kube/client.ts'
import { buildHostRbac, hostKind } from '../../kube/host-resource.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { createUntypedKind, type Manifest } from '../../kube/object.ts'
import { findObject } from '../../kube/read-objects.ts'
import { applyObject, deleteKubeObject } from '../../kube/write-objects.ts'
import type { ClusterObjectChange } from './changes.ts'

/** Maximum number of concurrent requests. */
const maxConcurrent = 16
/** Long enough for every API server: each server establishes a CRD by itself. */
const timeoutMs = 60_000

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
    // A CRD of an earlier run may still have been terminating, so the applied CRD was deleted with it.
    const object = found ?? (await applyObject(api, manifest, { force: true }))
    return findUnreadyReason(object) === undefined
  }
  await pollUntil(`the API to take up ${metadata.name}`, check, { timeoutMs: timeoutMs, signal: api.signal })
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
  const what = `the API to know what a ${manifest.kind} is`
  const { made } = await pollUntil(what, attempt, { timeoutMs: timeoutMs, signal: api.signal })
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
