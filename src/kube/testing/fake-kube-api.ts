import type { ServerResponse } from 'node:http'
import type { ReceivedRequest, TestResponse } from '../../kit/testing/https-test-server.ts'
import type { KubeObject } from '../object.ts'
import { applyPatchType } from '../request.ts'
import { FakeObjectStore, type StoreEvent, type WriteOptions } from './fake-object-store.ts'
import {
  buildDiscoveryResponse,
  builtInResources,
  type FakeResource,
  parseCrdResource,
  parseRoute,
  type ResourceRoute,
} from './fake-resources.ts'
import { type JsonFields, parseJsonFields } from './field-set.ts'

export interface FakeKubeApiOptions {
  /** Namespaces that exist at the start. Without this option, every namespace counts as existing. */
  readonly namespaces?: readonly string[]
  /** Resource version before the first write. */
  readonly revision?: number
  /** Clock for timestamps. Without it, each write is one second later than the previous one. */
  readonly now?: () => Date
}

export interface FakeObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
}

/** Returns the response of the fake API to the received request, or to `request` if it is given. */
type Serve = (request?: ReceivedRequest) => TestResponse

/** A write by a client, or the deletion of an object. */
export interface FakeApiChange {
  readonly type: StoreEvent['type'] | 'UNCHANGED'
  readonly path: string
  readonly object: KubeObject
}

interface OpenWatch {
  readonly route: ResourceRoute
  readonly matches: (object: KubeObject) => boolean
}

/**
 * Fake API server for objects of any kind, with resource versions, conflicts, subresources, field owners, dry
 * runs, pages and watches. The tests in object-contract.ts run against this fake and against a real API
 * server. Unlike a real server, the fake lists objects in order of creation.
 */
export class FakeKubeApi {
  /** Called before every request. A returned response replaces the response of the API. */
  onRequest: (request: ReceivedRequest, serve: Serve) => TestResponse | undefined = () => undefined
  /** Called after every write of a client, and for every object that is deleted. */
  onChange: (change: FakeApiChange) => void = () => undefined
  /**
   * Computes the status that controllers would write. If the function returns undefined, the object keeps its
   * stored status.
   */
  status: (object: JsonFields) => JsonFields | undefined = () => undefined
  readonly #store: FakeObjectStore
  readonly #watches = new Map<ServerResponse, OpenWatch>()
  readonly #checksNamespaces: boolean
  /** Events up to this revision are compacted. */
  #compacted = 0

  constructor({ namespaces, revision = 1, now }: FakeKubeApiOptions = {}) {
    this.#store = new FakeObjectStore(revision, now, (event) => this.#publish(event))
    this.#checksNamespaces = namespaces !== undefined
    for (const name of namespaces ?? [])
      this.user('kube-apiserver', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }

  readonly respond = (request: ReceivedRequest): TestResponse =>
    this.onRequest(request, (other = request) => this.#serve(other)) ?? this.#serve(request)

  /** Creates or replaces an object, status included, without field owners. */
  put(
    path: string,
    object: { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown },
  ): KubeObject {
    const route = this.#routeTo(path)
    const { namespace, name } = route
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }) }
    return this.#store.put(route, {
      ...object,
      metadata: { ...metadata, ...parseJsonFields(object['metadata'] ?? {}) },
    })
  }

  /** Changes an object with a merge patch, without field owners. */
  change(path: string, patch: object): KubeObject {
    return this.#store.change(this.#routeTo(path), patch)
  }

  /** Creates or replaces a whole object in the name of the field manager `manager`. */
  user(manager: string, manifest: JsonFields): KubeObject {
    const { namespace, name } = parseJsonFields(manifest['metadata'])
    const route = this.#routeTo({
      apiVersion: String(manifest['apiVersion']),
      kind: String(manifest['kind']),
      namespace: typeof namespace === 'string' ? namespace : undefined,
      name: String(name),
    })
    const result = this.#store.write(route, manifest, {
      ...{ manager, mode: 'replace', part: undefined },
      ...{ force: true, dryRun: false },
    })
    if ('conflicts' in result) throw new Error('a replaced object has no conflicts')
    return this.#show(result.object)
  }

  get(target: string | FakeObjectReference): KubeObject | undefined {
    const object = this.#store.get(this.#routeTo(target))
    return object === undefined ? undefined : this.#show(object)
  }

  /** Lists the objects of a collection; without a path, all objects. */
  all(collection?: string): KubeObject[] {
    const route = collection === undefined ? undefined : this.#routeTo(collection)
    return this.#store
      .list((one) => route === undefined || isInCollection(one, route))
      .map((one) => this.#show(one))
  }

  /** Deletes an object, even if it has finalizers. */
  remove(target: string | FakeObjectReference): void {
    this.#store.remove(this.#routeTo(target))
  }

  /** All changes since the start. */
  get log(): readonly StoreEvent[] {
    return this.#store.log
  }

  /** Compacts all events that were logged so far. */
  compact(): void {
    this.#compacted = this.#store.revision
  }

  /** Number of open watches. */
  get watching(): number {
    return this.#watches.size
  }

  /** Cuts all watch connections, as a stopping server does. */
  cutWatches(): void {
    for (const response of this.#watches.keys()) response.destroy()
  }

  /**
   * Answers a watch request with all events after its resource version, including later events. Returns a
   * function that stops the events; undefined if the version is compacted.
   */
  openWatch(response: ServerResponse, { path, query }: ReceivedRequest): (() => void) | undefined {
    const watch = { route: this.#routeTo(path), matches: parseSelectors(query) }
    const from = Number(query.get('resourceVersion'))
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    if (from < this.#compacted) {
      response.end(formatWatchEvent('ERROR', expiredStatus))
      return undefined
    }
    for (const event of this.#store.log) if (event.revision > from) sendEvent(response, watch, event)
    if (query.get('allowWatchBookmarks') === 'true') {
      const metadata = { resourceVersion: String(this.#store.revision) }
      response.write(formatWatchEvent('BOOKMARK', { ...formatType(watch.route.resource), metadata }))
    }
    this.#watches.set(response, watch)
    const stop = (): void => void this.#watches.delete(response)
    response.on('close', stop)
    return stop
  }

  #serve(request: ReceivedRequest): TestResponse {
    const { method, path, query } = request
    const resources = this.#listResources()
    const discovery = buildDiscoveryResponse(resources, path)
    if (discovery !== undefined) return discovery
    const route = parseRoute(resources, path)
    if (route === undefined) return { status: 404, text: '404 page not found' }
    if (method === 'GET' && query.get('watch') === 'true')
      return { by: (response) => void this.openWatch(response, request) }
    if (method === 'GET' && route.name === undefined) return this.#list(route, query)
    if (method === 'GET') {
      const object = this.#store.get(route)
      return object === undefined ? buildNotFound() : { json: this.#show(object) }
    }
    if (method === 'DELETE') return this.#delete(route, path, parseJsonFields(request.body ?? {}))
    return this.#write(route, request)
  }

  /**
   * Responds with one page, in order of creation. A continue token contains the revision of the first page
   * and the key of the last object on this page.
   */
  #list(route: ResourceRoute, query: URLSearchParams): TestResponse {
    const matches = parseSelectors(query)
    const [version = String(this.#store.revision), after] = query.get('continue')?.split(' ') ?? []
    if (query.has('continue') && Number(version) < this.#compacted)
      return { status: 410, json: expiredStatus }
    const all = this.#store
      .listAt(Number(version), (one) => isInCollection(one, route))
      .map((object) => this.#show(object))
      .filter(matches)
    const toToken = ({ metadata }: KubeObject): string =>
      route.namespace === undefined && metadata.namespace !== undefined
        ? `${metadata.namespace}/${metadata.name}`
        : metadata.name
    const start = after === undefined ? 0 : all.findIndex((object) => toToken(object) === after) + 1
    const items = all.slice(start, start + Number(query.get('limit') ?? all.length))
    const last = items.at(-1)
    const isComplete = last === undefined || start + items.length === all.length
    const rest = isComplete ? {} : { continue: `${version} ${toToken(last)}` }
    return { json: { metadata: { resourceVersion: version, ...rest }, items } }
  }

  #write(
    requestRoute: ResourceRoute,
    { method, path, query, contentType, body }: ReceivedRequest,
  ): TestResponse {
    const manifest = parseJsonFields(body)
    const metadata = parseJsonFields(manifest['metadata'] ?? {})
    const isCreation = method === 'POST'
    const route = isCreation ? { ...requestRoute, name: String(metadata['name']) } : requestRoute
    const { subresource, namespace } = route
    if (subresource !== '' && subresource !== 'status' && subresource !== 'approval') return buildNotFound()
    const previous = this.#store.get(route)
    const mode = method !== 'PATCH' ? 'replace' : contentType === applyPatchType ? 'apply' : 'merge'
    if (isCreation && previous !== undefined) return buildStatus(409, 'AlreadyExists', 'it is already there')
    if (previous === undefined && !isCreation && !(mode === 'apply' && subresource === ''))
      return buildNotFound()
    const isNamespaceMissing =
      this.#checksNamespaces &&
      namespace !== undefined &&
      this.#store.get(this.#routeTo(`/api/v1/namespaces/${namespace}`)) === undefined
    if (isNamespaceMissing) return buildNotFound()
    const version = metadata['resourceVersion']
    if (previous !== undefined && version !== undefined && version !== previous.metadata.resourceVersion)
      return buildStatus(409, 'Conflict', 'it was changed meanwhile')
    const options: WriteOptions = {
      manager: query.get('fieldManager') ?? '',
      mode,
      part: subresource === '' ? 'main' : 'status',
      force: query.get('force') === 'true',
      dryRun: query.get('dryRun') === 'All',
    }
    const desired = subresource === 'approval' ? keepConditions(manifest, previous) : manifest
    const result = this.#store.write(route, desired, options)
    if ('conflicts' in result) {
      const count = result.conflicts.length
      return buildStatus(409, 'Conflict', `Apply failed with ${count} conflicts`, result.conflicts)
    }
    const type = !result.isChanged ? 'UNCHANGED' : previous === undefined ? 'ADDED' : 'MODIFIED'
    const objectPath = isCreation ? `${path}/${route.name}` : path
    if (!options.dryRun) this.onChange({ type, path: objectPath, object: result.object })
    return { status: previous === undefined ? 201 : 200, json: this.#show(result.object) }
  }

  #delete(route: ResourceRoute, path: string, options: JsonFields): TestResponse {
    const object = this.#store.get(route)
    if (object === undefined) return buildNotFound()
    const { uid, resourceVersion } = parseJsonFields(options['preconditions'] ?? {})
    if (uid !== undefined && uid !== object.metadata.uid)
      return buildStatus(409, 'Conflict', 'Precondition failed: UID')
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
      return buildStatus(409, 'Conflict', 'Precondition failed: ResourceVersion')
    const finalizers = object.metadata['finalizers']
    if (Array.isArray(finalizers) && finalizers.length > 0) {
      const deletionTimestamp = object.metadata.deletionTimestamp ?? object.metadata['creationTimestamp']
      this.#store.change(route, { metadata: { deletionTimestamp } })
    } else {
      this.#store.remove(route)
      this.onChange({ type: 'DELETED', path, object })
    }
    return { json: { kind: 'Status', status: 'Success' } }
  }

  #listResources(): FakeResource[] {
    const definitions = this.#store.list(({ resource }) => resource.kind === 'CustomResourceDefinition')
    return [...builtInResources, ...definitions.map(parseCrdResource)]
  }

  #routeTo(target: string | FakeObjectReference): ResourceRoute {
    const resources = this.#listResources()
    if (typeof target === 'string') {
      const route = parseRoute(resources, target)
      if (route === undefined) throw new Error(`the fake API does not serve ${target}`)
      return route
    }
    const { apiVersion, kind, namespace, name } = target
    const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
    const resource = resources.find((one) => one.group === group && one.kind === kind)
    if (resource === undefined) throw new Error(`the fake API has no ${kind}`)
    return { resource, namespace, name, subresource: '' }
  }

  #show(object: KubeObject): KubeObject {
    const status = this.status(object)
    return status === undefined ? object : { ...object, status }
  }

  #publish(event: StoreEvent): void {
    for (const [response, watch] of this.#watches) sendEvent(response, watch, event)
  }
}

export const expiredStatus = {
  kind: 'Status',
  code: 410,
  reason: 'Expired',
  message: 'too old resource version',
}

export function formatWatchEvent(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`
}

function sendEvent(response: ServerResponse, { route, matches }: OpenWatch, event: StoreEvent): void {
  const { type, object } = event
  if (isInCollection(event.route, route) && matches(object)) response.write(formatWatchEvent(type, object))
}

function isInCollection(route: ResourceRoute, { resource, namespace }: ResourceRoute): boolean {
  return (
    route.resource.group === resource.group &&
    route.resource.plural === resource.plural &&
    (namespace === undefined || route.namespace === namespace)
  )
}

function formatType({ group, version, kind }: FakeResource): { apiVersion: string; kind: string } {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind }
}

/**
 * Parses selectors such as metadata.name=x,spec.signerName=y. A label selector may also contain only a label
 * name.
 */
function parseSelectors(query: URLSearchParams): (object: KubeObject) => boolean {
  const desired: (readonly [path: readonly string[], value: string | undefined])[] = [
    ...parseTerms(query.get('fieldSelector')).map(([path, value]) => [path.split('.'), value] as const),
    ...parseTerms(query.get('labelSelector')).map(
      ([label, value]) => [['metadata', 'labels', label], value] as const,
    ),
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
 * Keeps the previous status except the conditions, because an approval changes only the conditions of a
 * signing request.
 */
function keepConditions(manifest: JsonFields, previous: KubeObject | undefined): JsonFields {
  const { conditions } = parseJsonFields(manifest['status'] ?? {})
  return { ...manifest, status: { ...parseJsonFields(previous?.['status'] ?? {}), conditions } }
}

function buildStatus(
  status: number,
  reason: string,
  message: string,
  causes: readonly object[] = [],
): TestResponse {
  return { status, json: { kind: 'Status', code: status, reason, message, details: { causes } } }
}

function buildNotFound(): TestResponse {
  return buildStatus(404, 'NotFound', 'not found')
}
