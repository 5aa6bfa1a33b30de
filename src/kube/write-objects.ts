import type { KubeClient } from './client.ts'
import { isKubeError } from './kube-error.ts'
import { type Kind, type KubeObject, kubeObject, type Manifest, type NamespacedName } from './object.ts'
import { parseKubeResponse } from './parse-response.ts'
import { collectionPath, objectPath } from './paths.ts'
import {
  applyPatchType,
  mergePatchType,
  type KubeCallOptions,
  type KubeRequest,
  type KubeQuery,
} from './request.ts'

/** Field manager of all fields that hyperkube sets. */
export const fieldManager = 'hyperkube'
/** An unknown field is a bug in hyperkube and must fail. */
const strict: KubeQuery = { fieldManager, fieldValidation: 'Strict' }

export interface ApplyObjectOptions extends KubeCallOptions {
  /** Take over fields that other managers own. */
  readonly force?: boolean
  /** Change nothing; return the object as it would be. */
  readonly dryRun?: boolean
  /** Field manager, if several hyperkube programs write the same object. */
  readonly manager?: string
}

/**
 * Server-side apply: sets the fields of the manifest, creates the object if needed, and leaves other fields
 * alone. Fields of our previous manifest that this one omits are removed.
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
  { force = false, dryRun = false, manager = fieldManager, signal, timeout }: ApplyObjectOptions,
): Promise<KubeObject> {
  const resource = await client.discovery.resource(manifest, { signal, timeout })
  return sendWrite(client, {
    method: 'PATCH',
    path: objectPath(resource, manifest.metadata, subresource),
    query: { ...strict, fieldManager: manager, force, dryRun: dryRun ? 'All' : undefined },
    body: manifest,
    contentType: applyPatchType,
    signal,
    timeout,
  })
}

/** Fails with KUBE_CONFLICT if the object exists. */
export async function createObject(
  client: KubeClient,
  manifest: Manifest,
  { signal, timeout }: KubeCallOptions = {},
): Promise<KubeObject> {
  const resource = await client.discovery.resource(manifest, { signal, timeout })
  const { namespace } = manifest.metadata
  // Only validates the name before the request is sent.
  objectPath(resource, manifest.metadata)
  const path = collectionPath(resource, namespace)
  return sendWrite(client, { method: 'POST', path, query: strict, body: manifest, signal, timeout })
}

export interface ReplaceObjectOptions extends KubeCallOptions {
  /** Subresource to write: status, approval. */
  readonly subresource?: string
}

/**
 * The object must have the resourceVersion that was read. Fails with KUBE_CONFLICT if it has changed since.
 */
export async function replaceObject(
  client: KubeClient,
  object: Manifest,
  { subresource, signal, timeout }: ReplaceObjectOptions = {},
): Promise<KubeObject> {
  const resource = await client.discovery.resource(object, { signal, timeout })
  const path = objectPath(resource, object.metadata, subresource)
  return sendWrite(client, { method: 'PUT', path, query: strict, body: object, signal, timeout })
}

/** Merge patch: null removes a field. With a resourceVersion it fails if the object has changed since. */
export async function patchObject(
  client: KubeClient,
  kind: Kind,
  ref: NamespacedName,
  patch: object,
  { signal, timeout }: KubeCallOptions = {},
): Promise<KubeObject> {
  const path = objectPath(await client.discovery.resource(kind, { signal, timeout }), ref)
  return sendWrite(client, {
    method: 'PATCH',
    path,
    query: strict,
    body: patch,
    contentType: mergePatchType,
    signal,
    timeout,
  })
}

export interface DeleteObjectOptions extends KubeCallOptions {
  /** How dependent objects are deleted: after the object, before it, or not at all. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
  /** Delete only this object, not a new one with the same name. */
  readonly uid?: string
  /** Delete only this version. */
  readonly resourceVersion?: string
  /** Grace period in seconds; with 0 the API does not wait for the kubelet's confirmation. */
  readonly graceSeconds?: number
}

/** Returns false if the object did not exist. Finalizers may keep it for a while. */
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
  /** Evict only this pod, not a new one with the same name. */
  readonly uid?: string
}

/**
 * Evicts a pod as its disruption budget allows. Returns false if the pod did not exist. Fails with
 * KUBE_TOO_MANY if the budget forbids it; there is no retry, because only time and other pods change that.
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
