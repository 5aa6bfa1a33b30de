import type { KubeClient } from './client.ts'
import { isKubeError } from './kube-error.ts'
import { type Kind, type KubeObject, kubeObject, type Manifest, type Place } from './object.ts'
import { parseAnswer } from './parse-response.ts'
import { collectionPath, objectPath } from './paths.ts'
import { applyPatch, mergePatch, type CallOptions, type KubeRequest, type Query } from './request.ts'

/** Under this name we own the fields that we set. */
export const fieldManager = 'hyperkube'
/** A field that the API does not know is a mistake of ours, not something to pass over. */
const strict: Query = { fieldManager, fieldValidation: 'Strict' }

export interface ApplyOptions extends CallOptions {
  /** Take fields that others own. */
  readonly force?: boolean
  /** Nothing is changed; the answer is what the object would be. */
  readonly dryRun?: boolean
  /** Who owns the fields, where several of ours write one object. */
  readonly manager?: string
}

/**
 * Makes the fields of a manifest what they say, whether the object is there or not, and leaves all others alone. Fields
 * that an earlier manifest of ours had and this one has not are taken away.
 */
export async function apply(
  client: KubeClient,
  manifest: Manifest,
  options: ApplyOptions = {},
): Promise<KubeObject> {
  return applyTo(client, manifest, undefined, options)
}

/** The same for the status, which is written apart from the rest. */
export async function patchStatus(
  client: KubeClient,
  manifest: Manifest,
  options: ApplyOptions = {},
): Promise<KubeObject> {
  return applyTo(client, manifest, 'status', options)
}

async function applyTo(
  client: KubeClient,
  manifest: Manifest,
  part: string | undefined,
  { force = false, dryRun = false, manager = fieldManager, signal, timeout }: ApplyOptions,
): Promise<KubeObject> {
  const resource = await client.discovery.resource(manifest, { signal, timeout })
  return sent(client, {
    method: 'PATCH',
    path: objectPath(resource, manifest.metadata, part),
    query: { ...strict, fieldManager: manager, force, dryRun: dryRun ? 'All' : undefined },
    body: manifest,
    contentType: applyPatch,
    signal,
    timeout,
  })
}

/** Fails with KUBE_CONFLICT when it is already there. */
export async function create(
  client: KubeClient,
  manifest: Manifest,
  { signal, timeout }: CallOptions = {},
): Promise<KubeObject> {
  const resource = await client.discovery.resource(manifest, { signal, timeout })
  const { namespace } = manifest.metadata
  // For its checks alone: what is wrong with it is told before it is sent.
  objectPath(resource, manifest.metadata)
  const path = collectionPath(resource, namespace)
  return sent(client, { method: 'POST', path, query: strict, body: manifest, signal, timeout })
}

export interface ReplaceOptions extends CallOptions {
  /** What is written apart from the rest: status, approval. */
  readonly part?: string
}

/** With the resourceVersion that was read: fails with KUBE_CONFLICT when somebody else has changed it since. */
export async function replace(
  client: KubeClient,
  object: Manifest,
  { part, signal, timeout }: ReplaceOptions = {},
): Promise<KubeObject> {
  const resource = await client.discovery.resource(object, { signal, timeout })
  const path = objectPath(resource, object.metadata, part)
  return sent(client, { method: 'PUT', path, query: strict, body: object, signal, timeout })
}

/** Changes single fields; null takes one away. With a resourceVersion it fails when somebody was faster. */
export async function merge(
  client: KubeClient,
  kind: Kind,
  place: Place,
  patch: object,
  { signal, timeout }: CallOptions = {},
): Promise<KubeObject> {
  const path = objectPath(await client.discovery.resource(kind, { signal, timeout }), place)
  return sent(client, {
    method: 'PATCH',
    path,
    query: strict,
    body: patch,
    contentType: mergePatch,
    signal,
    timeout,
  })
}

export interface RemoveOptions extends CallOptions {
  /** What becomes of the objects that belong to it: removed after it, before it, or left. */
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
  /** Only this very object, and not another one that has got its name since. */
  readonly uid?: string
  /** Only as it was when it was read. */
  readonly resourceVersion?: string
  /** Seconds that its programs have to end; with 0 nobody waits for a kubelet to say that they have. */
  readonly grace?: number
}

/** Whether it was there. It may be there for a while yet, when something must be done first. */
export async function remove(
  client: KubeClient,
  kind: Kind,
  place: Place,
  { propagation = 'Background', uid, resourceVersion, grace, signal, timeout }: RemoveOptions = {},
): Promise<boolean> {
  const path = objectPath(await client.discovery.resource(kind, { signal, timeout }), place)
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: propagation,
    preconditions: { uid, resourceVersion },
    gracePeriodSeconds: grace,
  }
  return wasThere(client.request({ method: 'DELETE', path, body, signal, timeout }))
}

export interface EvictOptions extends CallOptions {
  /** Only this very pod, and not another one that has got its name since. */
  readonly uid?: string
}

/**
 * Ends a pod as its disruption budget allows, and answers whether it was there. Fails with KUBE_TOO_MANY when the budget
 * does not: only time and other pods change that, so it is not asked twice here.
 */
export async function evict(
  client: KubeClient,
  { namespace, name }: Place,
  { uid, signal, timeout }: EvictOptions = {},
): Promise<boolean> {
  const resource = await client.discovery.resource({ apiVersion: 'v1', kind: 'Pod' })
  const path = objectPath(resource, { namespace, name }, 'eviction')
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: { preconditions: { uid } },
  }
  return wasThere(client.request({ method: 'POST', path, body, signal, timeout }))
}

async function wasThere(asked: Promise<unknown>): Promise<boolean> {
  return asked.then(
    () => true,
    (error: unknown) => {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return false
      throw error
    },
  )
}

async function sent(client: KubeClient, request: KubeRequest): Promise<KubeObject> {
  return parseAnswer(kubeObject, await client.request(request), request.path)
}
