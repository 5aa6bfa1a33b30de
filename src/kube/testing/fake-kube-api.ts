import type { ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { mergePatch } from '../../kit/merge-patch.ts'
import type { Asked, TestAnswer } from '../../kit/testing/https-test-server.ts'
import { kubeObject, type KubeObject } from '../object.ts'
import { applyPatch } from '../request.ts'

interface Happening {
  readonly revision: number
  readonly collection: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: KubeObject
}

interface Watching {
  readonly collection: string
  readonly wants: (object: KubeObject) => boolean
}

const record = z.record(z.string(), z.unknown())
type Fields = z.infer<typeof record>

/**
 * Objects of any kind as the API keeps them: with versions, conflicts, parts that are written apart, owners of what is
 * applied, and watches that miss nothing. What changes nothing is no change.
 */
export class TestObjects {
  readonly #all = new Map<string, KubeObject>()
  /** What each manager has applied last, by object, part and manager. */
  readonly #applied = new Map<string, Fields>()
  readonly #watches = new Map<ServerResponse, Watching>()
  readonly #log: Happening[] = []
  #revision = 1
  #uid = 0

  /** Somebody makes or replaces it. */
  put(
    path: string,
    object: { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown },
  ): KubeObject {
    const { name } = placeOf(path)
    return this.#store(path, { metadata: { name }, ...object })
  }

  /** Somebody changes fields of it, as a merge patch says. */
  change(path: string, patch: object): KubeObject {
    return this.#store(path, mergePatch(this.get(path), patch))
  }

  get(path: string): KubeObject | undefined {
    return this.#all.get(path)
  }

  all(collection: string): KubeObject[] {
    return [...this.#all].flatMap(([path, object]) =>
      placeOf(path).collection === collection ? [object] : [],
    )
  }

  remove(path: string): void {
    const object = this.#all.get(path)
    if (object === undefined) return
    this.#all.delete(path)
    this.#happened('DELETED', path, object)
  }

  /** How many watch now. */
  get watching(): number {
    return this.#watches.size
  }

  /** Connections end, as they do when a server stops. */
  cutWatches(): void {
    for (const response of this.#watches.keys()) response.destroy()
  }

  readonly answer = (asked: Asked): TestAnswer => {
    const { method, path, query } = asked
    const { collection, name, part } = placeOf(path)
    const wants = selectorOf(query.get('fieldSelector'), query.get('labelSelector'))
    if (method === 'GET' && query.get('watch') === 'true') {
      const from = Number(query.get('resourceVersion'))
      return { by: (response) => this.#watch(response, from, { collection, wants }) }
    }
    if (method === 'GET' && name === '') {
      const items = this.all(collection).filter(wants)
      return { json: { metadata: { resourceVersion: String(this.#revision) }, items } }
    }
    const key =
      method === 'POST' ? `${path}/${kubeObject.parse(asked.body).metadata.name}` : `${collection}/${name}`
    const former = this.#all.get(key)
    if (method === 'GET') return former === undefined ? notFound : { json: former }
    if (method === 'DELETE') {
      this.remove(key)
      return former === undefined ? notFound : { json: { kind: 'Status', status: 'Success' } }
    }
    return this.#write(asked, key, part, former)
  }

  #write(asked: Asked, key: string, part: string, former: KubeObject | undefined): TestAnswer {
    const { method, contentType, query } = asked
    const body = record.parse(asked.body)
    const version = record.parse(body['metadata'] ?? {})['resourceVersion']
    const isApplied = contentType === applyPatch
    if (method === 'POST' && former !== undefined) return conflict('AlreadyExists')
    if (former === undefined && method !== 'POST' && !(isApplied && part === '')) return notFound
    if (former !== undefined && version !== undefined && version !== former.metadata.resourceVersion) {
      return conflict('Conflict')
    }
    const within = inPart(body, part)
    if (method !== 'PATCH') return { json: this.#store(key, { ...former, ...within }) }
    if (!isApplied) return { json: this.#store(key, mergePatch(former ?? {}, within)) }
    const owner = [key, part, query.get('fieldManager')].join(' ')
    const kept = without(record.parse(former ?? {}), this.#applied.get(owner) ?? {}, within)
    this.#applied.set(owner, within)
    return { json: this.#store(key, applied(kept, within)) }
  }

  #store(key: string, fields: unknown): KubeObject {
    const former = this.#all.get(key)
    const wished = kubeObject.parse(fields)
    const version = { resourceVersion: former?.metadata.resourceVersion ?? '' }
    const uid = former?.metadata.uid ?? wished.metadata.uid ?? `uid-${++this.#uid}`
    const same = { ...wished, metadata: { ...wished.metadata, uid, ...version } }
    if (former !== undefined && isDeepStrictEqual(former, same)) return former
    const object = { ...same, metadata: { ...same.metadata, resourceVersion: String(this.#revision + 1) } }
    this.#all.set(key, object)
    this.#happened(former === undefined ? 'ADDED' : 'MODIFIED', key, object)
    return object
  }

  #happened(type: Happening['type'], path: string, object: KubeObject): void {
    const { collection } = placeOf(path)
    const metadata = { ...object.metadata, resourceVersion: String(++this.#revision) }
    const happening = { revision: this.#revision, collection, type, object: { ...object, metadata } }
    this.#log.push(happening)
    for (const [response, watching] of this.#watches) tell(response, watching, happening)
  }

  #watch(response: ServerResponse, from: number, watching: Watching): void {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    for (const happening of this.#log) if (happening.revision > from) tell(response, watching, happening)
    this.#watches.set(response, watching)
    response.on('close', () => this.#watches.delete(response))
  }
}

function tell(response: ServerResponse, { collection, wants }: Watching, happening: Happening): void {
  const { type, object } = happening
  if (happening.collection === collection && wants(object))
    response.write(`${JSON.stringify({ type, object })}\n`)
}

function placeOf(path: string): {
  readonly collection: string
  readonly name: string
  readonly part: string
} {
  const form =
    /^(?<collection>\/(?:api|apis\/[^/]+)\/v\d[^/]*(?:\/namespaces\/[^/]+)?\/[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<part>[^/]+))?$/
  const { collection = path, name = '', part = '' } = form.exec(path)?.groups ?? {}
  return { collection, name, part }
}

/** metadata.name=x,spec.signerName=y; labels are looked for by name, or with a value. */
function selectorOf(fields: string | null, labels: string | null): (object: KubeObject) => boolean {
  const wished: (readonly [path: readonly string[], value: string | undefined])[] = [
    ...words(fields).map(([path, value]) => [path.split('.'), value] as const),
    ...words(labels).map(([label, value]) => [['metadata', 'labels', label], value] as const),
  ]
  return (object) =>
    wished.every(([path, value]) => {
      const found = path.reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), object)
      return value === undefined ? found !== undefined : found === value
    })
}

function words(text: string | null): (readonly [path: string, value: string | undefined])[] {
  return (text ?? '').split(',').flatMap((one) => {
    const [path = '', value] = one.split('=')
    return path === '' ? [] : [[path, value] as const]
  })
}

/** The status is written apart from the rest, and the rest apart from it. An approval is a part of a status. */
function inPart(body: Fields, part: string): Fields {
  const { status, ...rest } = body
  return part === '' ? rest : { status }
}

/** Conditions are of several owners; all else in lists is of one. */
function applied(object: unknown, wish: Fields): Fields {
  const before = record.parse(object ?? {})
  const entries = Object.entries(wish).map(([name, value]) => {
    if (name === 'conditions') return [name, [...byType(before[name], value), ...typed.parse(value)]]
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
    return [name, isMap ? applied(before[name], record.parse(value)) : value]
  })
  return { ...before, ...Object.fromEntries(entries) }
}

const typed = z.array(z.looseObject({ type: z.string() }))

/** Those of other types; of several lists, all types of them. */
function byType(conditions: unknown, ...lists: readonly unknown[]): unknown[] {
  const types = new Set(lists.flatMap((list) => typed.parse(list ?? []).map(({ type }) => type)))
  return typed.parse(conditions ?? []).filter(({ type }) => !types.has(type))
}

/** What somebody has applied before and does not any more goes. */
function without(object: Fields, before: Fields, now: Fields): Fields {
  const entries = Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
    if (!Object.hasOwn(before, name)) return [[name, value]]
    if (name === 'conditions') return [[name, byType(value, before[name], now[name])]]
    if (!Object.hasOwn(now, name)) return []
    const [own, next] = [record.safeParse(before[name]), record.safeParse(now[name])]
    const inner = record.safeParse(value)
    return [
      [name, own.success && next.success && inner.success ? without(inner.data, own.data, next.data) : value],
    ]
  })
  return Object.fromEntries(entries)
}

const notFound: TestAnswer = {
  status: 404,
  json: { kind: 'Status', reason: 'NotFound', message: 'not found' },
}

function conflict(reason: string): TestAnswer {
  return { status: 409, json: { kind: 'Status', reason, message: reason } }
}
