import type { ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { applyMergePatch } from '../../kit/merge-patch.ts'
import type { ReceivedRequest, TestResponse } from '../../kit/testing/https-test-server.ts'
import { kubeObject, type KubeObject } from '../object.ts'
import { applyPatchType } from '../request.ts'

interface ApiEvent {
  readonly revision: number
  readonly collection: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: KubeObject
}

interface OpenWatch {
  readonly collection: string
  readonly matches: (object: KubeObject) => boolean
}

const record = z.record(z.string(), z.unknown())
type Fields = z.infer<typeof record>

/**
 * A fake API for objects of any kind, with resource versions, conflicts, subresources, field owners and
 * watches. A write that changes nothing creates no new version.
 */
export class FakeKubeApi {
  readonly #all = new Map<string, KubeObject>()
  /** Fields that each manager applied last. The key consists of object, subresource and manager. */
  readonly #applied = new Map<string, Fields>()
  readonly #watches = new Map<ServerResponse, OpenWatch>()
  readonly #log: ApiEvent[] = []
  #revision = 1
  #uid = 0

  /** Creates or replaces an object, as another client would. */
  put(
    path: string,
    object: { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown },
  ): KubeObject {
    const { name } = parsePath(path)
    return this.#store(path, { metadata: { name }, ...object })
  }

  /** Changes an object with a merge patch, as another client would. */
  change(path: string, patch: object): KubeObject {
    return this.#store(path, applyMergePatch(this.get(path), patch))
  }

  get(path: string): KubeObject | undefined {
    return this.#all.get(path)
  }

  all(collection: string): KubeObject[] {
    return [...this.#all].flatMap(([path, object]) =>
      parsePath(path).collection === collection ? [object] : [],
    )
  }

  remove(path: string): void {
    const object = this.#all.get(path)
    if (object === undefined) return
    this.#all.delete(path)
    this.#recordEvent('DELETED', path, object)
  }

  /** Number of open watches. */
  get watching(): number {
    return this.#watches.size
  }

  /** Cuts all watch connections, as a stopping server does. */
  cutWatches(): void {
    for (const response of this.#watches.keys()) response.destroy()
  }

  readonly respond = (request: ReceivedRequest): TestResponse => {
    const { method, path, query } = request
    const { collection, name, part: subresource } = parsePath(path)
    const matches = parseSelectors(query.get('fieldSelector'), query.get('labelSelector'))
    if (method === 'GET' && query.get('watch') === 'true') {
      const from = Number(query.get('resourceVersion'))
      return { by: (response) => this.#watch(response, from, { collection, matches }) }
    }
    if (method === 'GET' && name === '') {
      const items = this.all(collection).filter(matches)
      return { json: { metadata: { resourceVersion: String(this.#revision) }, items } }
    }
    const key =
      method === 'POST' ? `${path}/${kubeObject.parse(request.body).metadata.name}` : `${collection}/${name}`
    const previous = this.#all.get(key)
    if (method === 'GET') return previous === undefined ? notFound : { json: previous }
    if (method === 'DELETE') {
      this.remove(key)
      return previous === undefined ? notFound : { json: { kind: 'Status', status: 'Success' } }
    }
    return this.#write(request, key, subresource, previous)
  }

  #write(
    request: ReceivedRequest,
    key: string,
    subresource: string,
    previous: KubeObject | undefined,
  ): TestResponse {
    const { method, contentType, query } = request
    const body = record.parse(request.body)
    const version = record.parse(body['metadata'] ?? {})['resourceVersion']
    const isApplied = contentType === applyPatchType
    if (method === 'POST' && previous !== undefined) return conflict('AlreadyExists')
    if (previous === undefined && method !== 'POST' && !(isApplied && subresource === '')) return notFound
    if (previous !== undefined && version !== undefined && version !== previous.metadata.resourceVersion) {
      return conflict('Conflict')
    }
    const partFields = selectPart(body, subresource)
    if (method !== 'PATCH') return { json: this.#store(key, { ...previous, ...partFields }) }
    if (!isApplied) return { json: this.#store(key, applyMergePatch(previous ?? {}, partFields)) }
    const owner = [key, subresource, query.get('fieldManager')].join(' ')
    const remaining = removeFields(record.parse(previous ?? {}), this.#applied.get(owner) ?? {}, partFields)
    this.#applied.set(owner, partFields)
    return { json: this.#store(key, applyFields(remaining, partFields)) }
  }

  #store(key: string, fields: unknown): KubeObject {
    const previous = this.#all.get(key)
    const desired = kubeObject.parse(fields)
    const version = { resourceVersion: previous?.metadata.resourceVersion ?? '' }
    const uid = previous?.metadata.uid ?? desired.metadata.uid ?? `uid-${++this.#uid}`
    const same = { ...desired, metadata: { ...desired.metadata, uid, ...version } }
    if (previous !== undefined && isDeepStrictEqual(previous, same)) return previous
    const object = { ...same, metadata: { ...same.metadata, resourceVersion: String(this.#revision + 1) } }
    this.#all.set(key, object)
    this.#recordEvent(previous === undefined ? 'ADDED' : 'MODIFIED', key, object)
    return object
  }

  #recordEvent(type: ApiEvent['type'], path: string, object: KubeObject): void {
    const { collection } = parsePath(path)
    const metadata = { ...object.metadata, resourceVersion: String(++this.#revision) }
    const event = { revision: this.#revision, collection, type, object: { ...object, metadata } }
    this.#log.push(event)
    for (const [response, watch] of this.#watches) sendEvent(response, watch, event)
  }

  #watch(response: ServerResponse, from: number, watch: OpenWatch): void {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    for (const event of this.#log) if (event.revision > from) sendEvent(response, watch, event)
    this.#watches.set(response, watch)
    response.on('close', () => this.#watches.delete(response))
  }
}

function sendEvent(response: ServerResponse, { collection, matches }: OpenWatch, event: ApiEvent): void {
  const { type, object } = event
  if (event.collection === collection && matches(object))
    response.write(`${JSON.stringify({ type, object })}\n`)
}

function parsePath(path: string): {
  readonly collection: string
  readonly name: string
  readonly part: string
} {
  const form =
    /^(?<collection>\/(?:api|apis\/[^/]+)\/v\d[^/]*(?:\/namespaces\/[^/]+)?\/[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<part>[^/]+))?$/
  const { collection = path, name = '', part: subresource = '' } = form.exec(path)?.groups ?? {}
  return { collection, name, part: subresource }
}

/**
 * Parses selectors such as metadata.name=x,spec.signerName=y. A label selector may also contain only a label
 * name.
 */
function parseSelectors(fields: string | null, labels: string | null): (object: KubeObject) => boolean {
  const desired: (readonly [path: readonly string[], value: string | undefined])[] = [
    ...parseTerms(fields).map(([path, value]) => [path.split('.'), value] as const),
    ...parseTerms(labels).map(([label, value]) => [['metadata', 'labels', label], value] as const),
  ]
  return (object) =>
    desired.every(([path, value]) => {
      const found = path.reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), object)
      return value === undefined ? found !== undefined : found === value
    })
}

function parseTerms(text: string | null): (readonly [path: string, value: string | undefined])[] {
  return (text ?? '').split(',').flatMap((one) => {
    const [path = '', value] = one.split('=')
    return path === '' ? [] : [[path, value] as const]
  })
}

/**
 * Selects the fields that a request may write: the status for subresources, including approval, and otherwise
 * all other fields.
 */
function selectPart(body: Fields, subresource: string): Fields {
  const { status, ...rest } = body
  return subresource === '' ? rest : { status }
}

/**
 * Merges applied fields into an object. Conditions are merged by type; any other list is replaced as a whole.
 */
function applyFields(object: unknown, desired: Fields): Fields {
  const before = record.parse(object ?? {})
  const entries = Object.entries(desired).map(([name, value]) => {
    if (name === 'conditions') return [name, [...byType(before[name], value), ...typed.parse(value)]]
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
    return [name, isMap ? applyFields(before[name], record.parse(value)) : value]
  })
  return { ...before, ...Object.fromEntries(entries) }
}

const typed = z.array(z.looseObject({ type: z.string() }))

/** Returns the conditions whose types do not occur in the lists. */
function byType(conditions: unknown, ...lists: readonly unknown[]): unknown[] {
  const types = new Set(lists.flatMap((list) => typed.parse(list ?? []).map(({ type }) => type)))
  return typed.parse(conditions ?? []).filter(({ type }) => !types.has(type))
}

/** Removes the fields that this manager applied previously and omits now. */
function removeFields(object: Fields, before: Fields, now: Fields): Fields {
  const entries = Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
    if (!Object.hasOwn(before, name)) return [[name, value]]
    if (name === 'conditions') return [[name, byType(value, before[name], now[name])]]
    if (!Object.hasOwn(now, name)) return []
    const [own, next] = [record.safeParse(before[name]), record.safeParse(now[name])]
    const inner = record.safeParse(value)
    return [
      [
        name,
        own.success && next.success && inner.success ? removeFields(inner.data, own.data, next.data) : value,
      ],
    ]
  })
  return Object.fromEntries(entries)
}

const notFound: TestResponse = {
  status: 404,
  json: { kind: 'Status', reason: 'NotFound', message: 'not found' },
}

function conflict(reason: string): TestResponse {
  return { status: 409, json: { kind: 'Status', reason, message: reason } }
}
