import { z } from 'zod'
import type { KubeClient } from './client.ts'
import { isKubeError } from './kube-error.ts'
import { type Kind, type KubeObject, type NamespacedName, parseKubeResponse } from './object.ts'
import type { KubeCallOptions } from './request.ts'
import { collectionPath, objectPath } from './resources.ts'

export async function getObject<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  ref: NamespacedName,
  options: KubeCallOptions = {},
): Promise<T> {
  const path = objectPath(await client.discovery.resource(kind, options), ref)
  const { signal, timeout } = options
  return parseKubeResponse(kind.schema, await client.request({ method: 'GET', path, signal, timeout }), path)
}

/** Returns undefined if the object does not exist. */
export async function findObject<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  ref: NamespacedName,
  options: KubeCallOptions = {},
): Promise<T | undefined> {
  return getObject(client, kind, ref, options).catch((error: unknown) => {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined
    throw error
  })
}

export async function objectExists(
  client: KubeClient,
  kind: Kind,
  ref: NamespacedName,
  options: KubeCallOptions = {},
): Promise<boolean> {
  return (await findObject(client, kind, ref, options)) !== undefined
}

export interface ListOptions extends KubeCallOptions {
  /** Namespace to list; undefined for all namespaces. */
  readonly namespace?: string
  readonly labels?: string
  readonly fields?: string
  /** Maximum number of objects per page. */
  readonly limit?: number
}

export interface ObjectList<T> {
  readonly items: readonly T[]
  /** Version from which a watch can continue after this list. */
  readonly resourceVersion: string
}

/** Lists all objects, page by page. The timeout applies to each page. */
export async function listObjects<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  options: ListOptions = {},
): Promise<ObjectList<T>> {
  const listAll = async (limit: number | undefined): Promise<ObjectList<T>> => {
    const items: T[] = []
    let resourceVersion = ''
    for await (const page of listObjectPages(client, kind, options, limit)) {
      items.push(...page.items)
      ;({ resourceVersion } = page)
    }
    return { items, resourceVersion }
  }
  return listAll(options.limit ?? 500).catch(async (error: unknown) => {
    // If etcd compacted the revision between two pages, all objects are listed again in one page. A single
    // large page is slow but cannot expire.
    if (isKubeError(error, 'KUBE_EXPIRED')) return listAll(undefined)
    throw error
  })
}

const listResponse = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string().default(''), continue: z.string().optional() }),
  items: z.array(z.looseObject({})).nullish(),
})

/**
 * Lists objects page by page. Throws KUBE_EXPIRED if the revision was compacted between two pages. Without a
 * limit there is one page.
 */
export async function* listObjectPages<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  { namespace, labels, fields, signal, timeout }: ListOptions,
  limit: number | undefined,
): AsyncGenerator<ObjectList<T>> {
  const path = collectionPath(await client.discovery.resource(kind, { signal, timeout }), namespace)
  const schema = z.array(kind.schema)
  let next: string | undefined
  do {
    const query = { labelSelector: labels, fieldSelector: fields, limit, continue: next }
    const response = await client.request({ method: 'GET', path, query, signal, timeout })
    const { metadata, items } = parseKubeResponse(listResponse, response, path)
    // The API omits apiVersion and kind in list items.
    const named = (items ?? []).map((item) => ({ apiVersion: kind.apiVersion, kind: kind.kind, ...item }))
    yield { items: parseKubeResponse(schema, named, path), resourceVersion: metadata.resourceVersion }
    next = metadata.continue
  } while (next !== undefined && next !== '')
}
