import type { KubeClient } from './client.ts'
import { isKubeError } from './kube-error.ts'
import {
  type Kind,
  type KubeObject,
  kubeObject,
  type Manifest,
  type NamespacedName,
  parseKubeResponse,
} from './object.ts'
import {
  applyPatchType,
  type KubeCallOptions,
  type KubeQuery,
  type KubeRequest,
  mergePatchType,
} from './request.ts'
import { collectionPath, objectPath } from './resources.ts'

/**
 * Builds the query parameters of a write. With strict validation the API rejects unknown fields, which would
 * be bugs of the program.
 */
function buildWriteQuery({ fieldManager }: KubeClient): KubeQuery {
  return { fieldManager, fieldValidation: 'Strict' }
}

export interface ApplyObjectOptions extends KubeCallOptions {
  /** True to take over fields that other managers own. */
  readonly force?: boolean
  /** True to change nothing and return the object as it would become. */
  readonly dryRun?: boolean
  /** Field manager to use instead of that of the client, if several programs write the same object. */
  readonly manager?: string
}

/**
 * Server-side apply: creates the object or sets the fields of the manifest. Fields that the same
 * field manager applied before and that the manifest now omits are removed. All other fields stay unchanged.
 */
export async function applyObject(
  client: KubeClient,
  manifest: Manifest,
  options: ApplyObjectOptions = {},
): Promise<KubeObject> {
  return applyManifest(client, manifest, undefined, options)
}

/** Like `applyObject` for the status subresource. */
export async function applyStatus(
  client: KubeClient,
  manifest: Manifest,
  options: ApplyObjectOptions = {},
): Promise<KubeObject> {
  return applyManifest(client, manifest, 'status', options)
}

async function applyManifest(
  client: KubeClient,
  manifest: Manifest,
  subresource: string | undefined,
  { force = false, dryRun = false, manager = client.fieldManager, signal, timeout }: ApplyObjectOptions,
): Promise<KubeObject> {
  const resource = await client.discovery.resource(manifest, { signal, timeout })
  return sendWrite(client, {
    method: 'PATCH',
    path: objectPath(resource, manifest.metadata, subresource),
    query: { ...buildWriteQuery(client), fieldManager: manager, force, dryRun: dryRun ? 'All' : undefined },
    body: manifest,
    contentType: applyPatchType,
    signal,
    timeout,
  })
}

/** Creates an object. Throws KUBE_CONFLICT if it already exists. */
export async function createObject(
  client: KubeClient,
  manifest: Manifest,
  { signal, timeout }: KubeCallOptions = {},
): Promise<KubeObject> {
  const resource = await client.discovery.resource(manifest, { signal, timeout })
  const { namespace } = manifest.metadata
  // Called only to validate the name before the request is sent.
  objectPath(resource, manifest.metadata)
  const path = collectionPath(resource, namespace)
  return sendWrite(client, {
    method: 'POST',
    path,
    query: buildWriteQuery(client),
    body: manifest,
    signal,
    timeout,
  })
}

export interface ReplaceObjectOptions extends KubeCallOptions {
  /** Subresource to write, for example status or approval. */
  readonly subresource?: string
}

/**
 * Replaces an object, which must contain the resourceVersion that was read. Throws KUBE_CONFLICT if the
 * object was changed after it was read.
 */
export async function replaceObject(
  client: KubeClient,
  object: Manifest,
  { subresource, signal, timeout }: ReplaceObjectOptions = {},
): Promise<KubeObject> {
  const resource = await client.discovery.resource(object, { signal, timeout })
  const path = objectPath(resource, object.metadata, subresource)
  return sendWrite(client, {
    method: 'PUT',
    path,
    query: buildWriteQuery(client),
    body: object,
    signal,
    timeout,
  })
}

/**
 * Applies a JSON merge patch, in which null removes a field. If the patch contains a resourceVersion, the
 * call fails when the object has a different version.
 */
export async function patchObject(
  client: KubeClient,
  kind: Kind,
  ref: NamespacedName,
  patch: object,
  { signal, timeout, idempotent }: KubeCallOptions & Pick<KubeRequest, 'idempotent'> = {},
): Promise<KubeObject> {
  const path = objectPath(await client.discovery.resource(kind, { signal, timeout }), ref)
  return sendWrite(client, {
    method: 'PATCH',
    path,
    query: buildWriteQuery(client),
    body: patch,
    contentType: mergePatchType,
    signal,
    timeout,
    idempotent,
  })
}

export interface DeleteObjectOptions extends KubeCallOptions {
  /**
   * How dependent objects are deleted: `Background` after the object, `Foreground` before it, `Orphan` not at
   * all.
   */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
  /** Deletes only the object with this uid, not a new object with the same name. */
  readonly uid?: string
  /** Deletes the object only if it still has this version. */
  readonly resourceVersion?: string
  /** Grace period of a pod in seconds. With 0 the API does not wait for the kubelet. */
  readonly graceSeconds?: number
}

/** Deletes an object. Returns false if it did not exist. Finalizers may delay the deletion. */
export async function deleteKubeObject(
  client: KubeClient,
  kind: Kind,
  ref: NamespacedName,
  {
    propagation = 'Background',
    uid,
    resourceVersion,
    graceSeconds,
    signal,
    timeout,
  }: DeleteObjectOptions = {},
): Promise<boolean> {
  const path = objectPath(await client.discovery.resource(kind, { signal, timeout }), ref)
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: propagation,
    preconditions: { uid, resourceVersion },
    gracePeriodSeconds: graceSeconds,
  }
  return existed(client.request({ method: 'DELETE', path, body, signal, timeout }))
}

export interface EvictPodOptions extends KubeCallOptions {
  /** Evicts only the pod with this uid, not a new pod with the same name. */
  readonly uid?: string
}

/**
 * Evicts a pod if its disruption budget allows it. Returns false if the pod did not exist. Throws
 * KUBE_TOO_MANY without a retry if the budget does not allow the eviction.
 */
export async function evictPod(
  client: KubeClient,
  { namespace, name }: NamespacedName,
  { uid, signal, timeout }: EvictPodOptions = {},
): Promise<boolean> {
  const resource = await client.discovery.resource({ apiVersion: 'v1', kind: 'Pod' })
  const path = objectPath(resource, { namespace, name }, 'eviction')
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: { preconditions: { uid } },
  }
  return existed(client.request({ method: 'POST', path, body, signal, timeout }))
}

async function existed(response: Promise<unknown>): Promise<boolean> {
  return response.then(
    () => true,
    (error: unknown) => {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return false
      throw error
    },
  )
}

async function sendWrite(client: KubeClient, request: KubeRequest): Promise<KubeObject> {
  return parseKubeResponse(kubeObject, await client.request(request), request.path)
}
