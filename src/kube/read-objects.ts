import { z } from 'zod'
import type { KubeClient } from './client.ts'
import { isKubeError } from './kube-error.ts'
import type { Kind, KubeObject, Place } from './object.ts'
import { parseAnswer } from './parse-response.ts'
import { collectionPath, objectPath } from './paths.ts'
import type { CallOptions } from './request.ts'

export async function get<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  place: Place,
  options: CallOptions = {},
): Promise<T> {
  const path = objectPath(await client.discovery.resource(kind, options), place)
  const { signal, timeout } = options
  return parseAnswer(kind.schema, await client.request({ method: 'GET', path, signal, timeout }), path)
}

/** Undefined when there is none. */
export async function find<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  place: Place,
  options: CallOptions = {},
): Promise<T | undefined> {
  return get(client, kind, place, options).catch((error: unknown) => {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined
    throw error
  })
}

export async function exists(
  client: KubeClient,
  kind: Kind,
  place: Place,
  options: CallOptions = {},
): Promise<boolean> {
  return (await find(client, kind, place, options)) !== undefined
}

export interface ListOptions extends CallOptions {
  /** All, when it is left out. */
  readonly namespace?: string
  readonly labels?: string
  readonly fields?: string
  /** How many in one answer. */
  readonly limit?: number
}

export interface List<T> {
  readonly items: readonly T[]
  /** From here on a watch goes on. */
  readonly resourceVersion: string
}

/** All of them, fetched page by page. The time limit is for each page. */
export async function list<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  options: ListOptions = {},
): Promise<List<T>> {
  const all = async (limit: number | undefined): Promise<List<T>> => {
    const items: T[] = []
    let resourceVersion = ''
    for await (const page of pages(client, kind, options, limit)) {
      items.push(...page.items)
      ;({ resourceVersion } = page)
    }
    return { items, resourceVersion }
  }
  return all(options.limit ?? 500).catch(async (error: unknown) => {
    // etcd forgets after some minutes what the pages were of; all at once is slow, but it ends.
    if (isKubeError(error, 'KUBE_EXPIRED')) return all(undefined)
    throw error
  })
}

const listAnswer = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string().default(''), continue: z.string().optional() }),
  items: z.array(z.looseObject({})).nullish(),
})

/** The same page by page. It fails with KUBE_EXPIRED when the rest of it is forgotten; without a limit all is one page. */
export async function* pages<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  { namespace, labels, fields, signal, timeout }: ListOptions,
  limit: number | undefined,
): AsyncGenerator<List<T>> {
  const path = collectionPath(await client.discovery.resource(kind, { signal, timeout }), namespace)
  const schema = z.array(kind.schema)
  let next: string | undefined
  do {
    const query = { labelSelector: labels, fieldSelector: fields, limit, continue: next }
    const answer = await client.request({ method: 'GET', path, query, signal, timeout })
    const { metadata, items } = parseAnswer(listAnswer, answer, path)
    // In a list, items do not say what they are.
    const named = (items ?? []).map((item) => ({ apiVersion: kind.apiVersion, kind: kind.kind, ...item }))
    yield { items: parseAnswer(schema, named, path), resourceVersion: metadata.resourceVersion }
    next = metadata.continue
  } while (next !== undefined && next !== '')
}
