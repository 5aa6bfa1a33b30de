import { mapAtMost } from '../../catalog/map-with-concurrency.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { type Kind, kindOf, type KubeObject } from '../../kube/object.ts'
import { find, pages } from '../../kube/read-objects.ts'
import { replace } from '../../kube/write-objects.ts'

/** What is encrypted in etcd. The configuration of encryption names the same. */
export const encryptedKinds: readonly Kind[] = [kindOf('v1', 'Secret'), kindOf('v1', 'ConfigMap')]

/** Each may have a megabyte. */
const pageSize = 100
const atOnce = 8

export interface RewriteOptions {
  /** Told after each page. */
  readonly progress: (written: number) => void
  readonly signal: AbortSignal
}

/**
 * Writes every object of some kinds as it is, so that it is encrypted with the key that encrypts now. The API writes an
 * unchanged object only when it was encrypted with another one, so that doing it twice costs little. Answers with how many.
 */
export async function rewriteAll(
  api: KubeClient,
  kinds: readonly Kind[],
  { progress, signal }: RewriteOptions,
): Promise<number> {
  let written = 0
  for (const kind of kinds) {
    for await (const items of allOf(api, kind, signal)) {
      const done = await mapAtMost(atOnce, items, async (item) => rewrite(api, kind, item, signal))
      written += done.filter((was) => was).length
      progress(written)
    }
  }
  return written
}

/** Page by page; all at once when it took so long that etcd has forgotten what the pages were of. */
async function* allOf(
  api: KubeClient,
  kind: Kind,
  signal: AbortSignal,
): AsyncGenerator<readonly KubeObject[]> {
  try {
    for await (const { items } of pages(api, kind, { signal }, pageSize)) yield items
  } catch (error) {
    if (!isKubeError(error, 'KUBE_EXPIRED')) throw error
    for await (const { items } of pages(api, kind, { signal }, undefined)) yield items
  }
}

/** Whether it was still there. Somebody else may be faster, and then it is read and written again. */
async function rewrite(
  api: KubeClient,
  kind: Kind,
  first: KubeObject,
  signal: AbortSignal,
): Promise<boolean> {
  let object: KubeObject | undefined = first
  while (object !== undefined) {
    try {
      await replace(api, object, { signal })
      return true
    } catch (error) {
      if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_NOT_FOUND')) throw error
      const { namespace, name, uid } = first.metadata
      const now: KubeObject | undefined = await find(api, kind, { namespace, name }, { signal })
      // One that was made anew since was written with the right key.
      object = now?.metadata.uid === uid ? now : undefined
    }
  }
  return false
}
