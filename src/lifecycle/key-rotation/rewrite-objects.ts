import { mapWithConcurrency } from '../../catalog/map-with-concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { type Kind, createUntypedKind, type KubeObject } from '../../kube/object.ts'
import { findObject, listObjectPages } from '../../kube/read-objects.ts'
import { replaceObject } from '../../kube/write-objects.ts'

/** Resources that are encrypted in etcd. The encryption configuration lists the same resources. */
export const encryptedKinds: readonly Kind[] = [
  createUntypedKind('v1', 'Secret'),
  createUntypedKind('v1', 'ConfigMap'),
]

/** Small, because a single object may have a size of one megabyte. */
const pageSize = 100
const maxConcurrent = 8

export interface RewriteOptions {
  /** Called after each page with the number of objects written so far. */
  readonly progress: (written: number) => void
  readonly signal: AbortSignal
}

/**
 * Writes every object of some kinds unchanged, so that it is encrypted with the current key. Objects that
 * already use this key are skipped by the API, so a second run is cheap. Returns the number of objects.
 */
export async function rewriteObjects(
  api: KubeClient,
  kinds: readonly Kind[],
  { progress, signal }: RewriteOptions,
): Promise<number> {
  let written = 0
  for (const kind of kinds) {
    for await (const items of listPages(api, kind, signal)) {
      const done = await mapWithConcurrency(maxConcurrent, items, async (item) =>
        rewrite(api, kind, item, signal),
      )
      written += done.filter((was) => was).length
      progress(written)
    }
  }
  return written
}

/**
 * Yields the objects page by page. If etcd has compacted the revision of the pages, yields one complete list
 * instead.
 */
async function* listPages(
  api: KubeClient,
  kind: Kind,
  signal: AbortSignal,
): AsyncGenerator<readonly KubeObject[]> {
  try {
    for await (const { items } of listObjectPages(api, kind, { signal }, pageSize)) yield items
  } catch (error) {
    if (!isKubeError(error, 'KUBE_EXPIRED')) throw error
    for await (const { items } of listObjectPages(api, kind, { signal }, undefined)) yield items
  }
}

/**
 * Writes one object unchanged; after a conflict reads it and tries again. Returns false if the object no
 * longer exists.
 */
async function rewrite(
  api: KubeClient,
  kind: Kind,
  first: KubeObject,
  signal: AbortSignal,
): Promise<boolean> {
  let object: KubeObject | undefined = first
  while (object !== undefined) {
    try {
      await replaceObject(api, object, { signal })
      return true
    } catch (error) {
      if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_NOT_FOUND')) throw error
      const { namespace, name, uid } = first.metadata
      const now: KubeObject | undefined = await findObject(api, kind, { namespace, name }, { signal })
      // An object with another uid was created after the key change, so it already uses the new key.
      object = now?.metadata.uid === uid ? now : undefined
    }
  }
  return false
}
