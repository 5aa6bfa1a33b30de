import type { ReceivedRequest, TestResponse } from '../../kit/testing/https-test-server.ts'
import { parseGroup } from '../reference.ts'
import { type JsonFields, parseJsonFields, FieldSet, type FieldValue, listFields } from './field-set.ts'
import {
  builtInResources,
  parseCrdResource,
  buildDiscoveryResponse,
  type FakeApiResource,
  type ResourceRoute,
  parseRoute,
} from './fake-resources.ts'
import { buildReadyStatus } from './ready-status.ts'

interface FieldOwner {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  time: string
  paths: Set<string>
}

interface StoredObject {
  readonly resource: FakeApiResource
  readonly namespace: string | undefined
  readonly name: string
  fields: FieldSet
  owners: FieldOwner[]
  readonly uid: string
  readonly created: string
  version: number
  generation: number
  removing: boolean
}

export interface FakeObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
}

/** An in-memory API server that tracks field owners and supports dry runs. */
export class FakeAddonApi {
  readonly #objects = new Map<string, StoredObject>()
  #ticks = 0
  /** Computes the status of an object. Objects are ready at once, unless a test replaces this. */
  status: (object: JsonFields) => JsonFields | undefined = buildReadyStatus
  /** Called before every request. A returned response replaces the response of the API. */
  intercept: (request: ReceivedRequest, serve: () => TestResponse) => TestResponse | undefined = () =>
    undefined

  constructor(namespaces: readonly string[] = ['kube-system', 'default']) {
    for (const name of namespaces) {
      this.user('kube-apiserver', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
  }

  readonly respond = (request: ReceivedRequest): TestResponse =>
    this.intercept(request, () => this.#serve(request)) ?? this.#serve(request)

  /** Creates or replaces a whole object as another field manager. */
  user(manager: string, manifest: JsonFields): JsonFields {
    const route = this.#routeTo(manifest)
    const result = this.#write(route, manifest, { manager, operation: 'Update', force: true, dryRun: false })
    if (!('json' in result)) throw new Error('the test API did not take it')
    return parseJsonFields(result.json)
  }

  find(reference: FakeObjectReference): JsonFields | undefined {
    const { apiVersion, kind, namespace, name } = reference
    const stored = this.#objects.get(
      formatRouteKey(this.#routeTo({ apiVersion, kind, metadata: { namespace, name } })),
    )
    return stored === undefined ? undefined : this.#show(stored)
  }

  /** Deletes an object, even if it has finalizers. */
  remove(reference: FakeObjectReference): void {
    const { apiVersion, kind, namespace, name } = reference
    this.#delete(formatRouteKey(this.#routeTo({ apiVersion, kind, metadata: { namespace, name } })))
  }

  all(): JsonFields[] {
    return [...this.#objects.values()].map((stored) => this.#show(stored))
  }

  #serve({ method, path, query, body }: ReceivedRequest): TestResponse {
    const resources = this.#resources()
    const discovery = buildDiscoveryResponse(resources, path)
    if (discovery !== undefined) return discovery
    const route = parseRoute(resources, path)
    if (route === undefined) return { status: 404, text: '404 page not found' }
    const dryRun = query.get('dryRun') === 'All'
    const manager = query.get('fieldManager') ?? ''
    if (method === 'GET') return route.name === undefined ? this.#list(route, query) : this.#get(route)
    if (method === 'DELETE') return this.#remove(route, parseJsonFields(body))
    const manifest = parseJsonFields(body)
    const force = query.get('force') === 'true'
    if (method === 'PATCH')
      return this.#write(route, manifest, { manager, operation: 'Apply', force, dryRun })
    const named = { ...route, name: String(parseJsonFields(manifest['metadata'])['name']) }
    const previous = this.#objects.get(formatRouteKey(named))
    if (method === 'POST' && previous !== undefined)
      return buildStatusError(409, 'AlreadyExists', 'it is already there')
    if (
      method === 'PUT' &&
      String(previous?.version) !== parseJsonFields(manifest['metadata'])['resourceVersion']
    ) {
      return buildStatusError(409, 'Conflict', 'it was changed meanwhile')
    }
    return this.#write(named, manifest, { manager, operation: 'Update', force: true, dryRun })
  }

  #resources(): FakeApiResource[] {
    const definitions = [...this.#objects.values()].filter(
      ({ resource: { kind } }) => kind === 'CustomResourceDefinition',
    )
    return [...builtInResources, ...definitions.map(({ fields }) => parseCrdResource(fields.value))]
  }

  #routeTo(manifest: JsonFields): ResourceRoute & { readonly name: string } {
    const { namespace, name } = parseJsonFields(manifest['metadata'])
    const group = parseGroup(String(manifest['apiVersion']))
    const found = this.#resources().find((one) => one.group === group && one.kind === manifest['kind'])
    if (found === undefined) throw new Error(`the test API has no ${String(manifest['kind'])}`)
    return {
      resource: found,
      namespace: typeof namespace === 'string' ? namespace : undefined,
      name: String(name),
    }
  }

  #get(route: ResourceRoute): TestResponse {
    const stored = this.#objects.get(formatRouteKey(route))
    return stored === undefined ? buildNotFound() : { json: this.#show(stored) }
  }

  #list({ resource: { group, plural }, namespace }: ResourceRoute, query: URLSearchParams): TestResponse {
    const selectors = (query.get('labelSelector') ?? '').split(',').filter((one) => one !== '')
    const items = [...this.#objects.values()]
      .filter((one) => one.resource.group === group && one.resource.plural === plural)
      .filter((one) => namespace === undefined || one.namespace === namespace)
      .map((one) => this.#show(one))
      .filter((object) => {
        const labels = parseJsonFields(parseJsonFields(object['metadata'])['labels'] ?? {})
        return selectors.every((one) => {
          const [key = '', value] = one.split('=')
          return value === undefined ? Object.hasOwn(labels, key) : labels[key] === value
        })
      })
    return { json: { metadata: { resourceVersion: String(this.#ticks) }, items } }
  }

  #write(route: ResourceRoute, manifest: JsonFields, how: WriteOptions): TestResponse {
    const { resource: kind, namespace, name = '' } = route
    if (namespace !== undefined && !this.#objects.has(`/namespaces//${namespace}`)) return buildNotFound()
    const previous = this.#objects.get(formatRouteKey(route))
    const desired = listFields(manifest)
    const others = previous?.owners.filter((owner) => !isSameOwner(owner, how)) ?? []
    const conflicts = desired.flatMap((leaf) => findFieldConflicts(leaf, previous?.fields, others))
    if (conflicts.length > 0 && !how.force) {
      return buildStatusError(409, 'Conflict', `Apply failed with ${conflicts.length} conflicts`, conflicts)
    }
    const time = this.#time(how.dryRun ? 0 : 1)
    const own = previous?.owners.find((owner) => isSameOwner(owner, how))
    const paths = new Set(desired.map(({ path }) => path))
    const taken = new Set(conflicts.map(({ field }) => field.slice(1)))
    const fields = (previous?.fields ?? new FieldSet()).with(desired).without(
      // An update removes all fields that it does not contain. An apply removes only its own previous fields
      // that no other manager owns.
      how.operation === 'Update'
        ? (previous?.fields.paths ?? []).filter((path) => !paths.has(path))
        : [...(own?.paths ?? [])].filter(
            (path) => !paths.has(path) && !others.some((other) => other.paths.has(path)),
          ),
    )
    const isChanged = previous === undefined || !previous.fields.equals(fields)
    const isOwnershipChanged = own === undefined || [...own.paths].join() !== [...paths].join()
    const next: StoredObject = {
      resource: kind,
      namespace,
      name,
      fields,
      owners: [
        ...others.map((other) => ({
          ...other,
          paths: new Set([...other.paths].filter((path) => !taken.has(path))),
        })),
        {
          manager: how.manager,
          operation: how.operation,
          time: own === undefined || isChanged || isOwnershipChanged ? time : own.time,
          paths,
        },
      ],
      uid: previous?.uid ?? `uid-${this.#ticks}`,
      created: previous?.created ?? time,
      version: isChanged || isOwnershipChanged ? this.#ticks : previous.version,
      generation: isChanged ? (previous?.generation ?? 0) + 1 : previous.generation,
      removing: previous?.removing ?? false,
    }
    if (!how.dryRun) this.#objects.set(formatRouteKey(route), next)
    return { status: previous === undefined ? 201 : 200, json: this.#show(next) }
  }

  #remove(route: ResourceRoute, options: JsonFields): TestResponse {
    const stored = this.#objects.get(formatRouteKey(route))
    if (stored === undefined) return buildNotFound()
    const { uid } = parseJsonFields(options['preconditions'] ?? {})
    if (uid !== undefined && uid !== stored.uid)
      return buildStatusError(409, 'Conflict', 'Precondition failed: UID')
    this.#time(1)
    if (stored.fields.paths.includes('metadata.finalizers')) stored.removing = true
    else this.#delete(formatRouteKey(route))
    return { json: { kind: 'Status', status: 'Success' } }
  }

  /** Deletes an object. The contents of a namespace and the objects of a CRD are deleted with it. */
  #delete(key: string): void {
    const stored = this.#objects.get(key)
    this.#objects.delete(key)
    if (stored === undefined) return
    for (const [other, { namespace, resource: own }] of this.#objects) {
      const isInside = stored.resource.kind === 'Namespace' && namespace === stored.name
      const isOfKind =
        stored.resource.kind === 'CustomResourceDefinition' && stored.name === `${own.plural}.${own.group}`
      if (isInside || isOfKind) this.#objects.delete(other)
    }
  }

  #time(ticks: number): string {
    this.#ticks += ticks
    return new Date(this.#ticks * 1000).toISOString().replace('.000', '')
  }

  #show(stored: StoredObject): JsonFields {
    const { resource: kind, namespace, name, fields, owners, uid, created } = stored
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
    const { metadata, ...rest } = fields.value
    const object = {
      apiVersion,
      kind: kind.kind,
      metadata: {
        ...parseJsonFields(metadata ?? {}),
        name,
        ...(namespace === undefined ? {} : { namespace }),
        uid,
        creationTimestamp: created,
        resourceVersion: String(stored.version),
        generation: stored.generation,
        ...(stored.removing ? { deletionTimestamp: created } : {}),
        managedFields: owners.map(({ manager, operation, time }) => ({
          manager,
          operation,
          time,
          apiVersion,
        })),
      },
      ...rest,
    }
    const status = this.status(object)
    return status === undefined ? object : { ...object, status }
  }
}

interface WriteOptions {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly force: boolean
  readonly dryRun: boolean
}

function isSameOwner(owner: FieldOwner, { manager, operation }: WriteOptions): boolean {
  return owner.manager === manager && owner.operation === operation
}

function findFieldConflicts(
  { path, value }: FieldValue,
  fields: FieldSet | undefined,
  others: readonly FieldOwner[],
): { reason: string; field: string; message: string }[] {
  if (fields === undefined || fields.has({ path, value })) return []
  return others
    .filter((other) => other.paths.has(path))
    .map(({ manager }) => ({
      reason: 'FieldManagerConflict',
      field: `.${path}`,
      message: `conflict with ${JSON.stringify(manager)} using v1 at 2026-01-01T00:00:00Z`,
    }))
}

function formatRouteKey({ resource: { group, plural }, namespace = '', name = '' }: ResourceRoute): string {
  return `${group}/${plural}/${namespace}/${name}`
}

function buildStatusError(
  status: number,
  reason: string,
  message: string,
  causes: readonly object[] = [],
): TestResponse {
  return { status, json: { kind: 'Status', reason, message, details: { causes } } }
}

function buildNotFound(): TestResponse {
  return buildStatusError(404, 'NotFound', 'not found')
}
