import type { Asked, TestAnswer } from '../../kit/testing/https-test-server.ts'
import { groupOf } from '../reference.ts'
import { type Json, jsonOf, Fields, type Leaf, leavesOf } from './field-set.ts'
import { builtIn, definedBy, offerOf, type Resource, type Route, routeOf } from './fake-resources.ts'
import { readyStatus } from './ready-status.ts'

interface Owner {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  time: string
  paths: Set<string>
}

interface Stored {
  readonly resource: Resource
  readonly namespace: string | undefined
  readonly name: string
  fields: Fields
  owners: Owner[]
  readonly uid: string
  readonly created: string
  version: number
  generation: number
  removing: boolean
}

/** What a user types for an object. */
export interface Place {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
}

/** An API with its objects in memory: it knows who has set which field, and tries without doing. */
export class TestApi {
  readonly #objects = new Map<string, Stored>()
  #ticks = 0
  /** How an object reports that it is: ready at once, unless a test says otherwise. */
  status: (object: Json) => Json | undefined = readyStatus
  /** Is asked before anything else; an answer of its own stands for that of the API. */
  intercept: (asked: Asked, serve: () => TestAnswer) => TestAnswer | undefined = () => undefined

  constructor(namespaces: readonly string[] = ['kube-system', 'default']) {
    for (const name of namespaces) {
      this.user('kube-apiserver', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
  }

  readonly answer = (asked: Asked): TestAnswer =>
    this.intercept(asked, () => this.#serve(asked)) ?? this.#serve(asked)

  /** Somebody writes all of an object, or makes it. */
  user(manager: string, manifest: Json): Json {
    const route = this.#routeTo(manifest)
    const result = this.#write(route, manifest, { manager, operation: 'Update', force: true, dryRun: false })
    if (!('json' in result)) throw new Error('the test API did not take it')
    return jsonOf(result.json)
  }

  find(place: Place): Json | undefined {
    const { apiVersion, kind, namespace, name } = place
    const stored = this.#objects.get(
      keyOf(this.#routeTo({ apiVersion, kind, metadata: { namespace, name } })),
    )
    return stored === undefined ? undefined : this.#show(stored)
  }

  /** Somebody deletes it, or a finalizer is done. */
  remove(place: Place): void {
    const { apiVersion, kind, namespace, name } = place
    this.#delete(keyOf(this.#routeTo({ apiVersion, kind, metadata: { namespace, name } })))
  }

  all(): Json[] {
    return [...this.#objects.values()].map((stored) => this.#show(stored))
  }

  #serve({ method, path, query, body }: Asked): TestAnswer {
    const resources = this.#resources()
    const offered = offerOf(resources, path)
    if (offered !== undefined) return offered
    const route = routeOf(resources, path)
    if (route === undefined) return { status: 404, text: '404 page not found' }
    const dryRun = query.get('dryRun') === 'All'
    const manager = query.get('fieldManager') ?? ''
    if (method === 'GET') return route.name === undefined ? this.#list(route, query) : this.#get(route)
    if (method === 'DELETE') return this.#remove(route, jsonOf(body))
    const manifest = jsonOf(body)
    const force = query.get('force') === 'true'
    if (method === 'PATCH')
      return this.#write(route, manifest, { manager, operation: 'Apply', force, dryRun })
    const named = { ...route, name: String(jsonOf(manifest['metadata'])['name']) }
    const former = this.#objects.get(keyOf(named))
    if (method === 'POST' && former !== undefined) return refusal(409, 'AlreadyExists', 'it is already there')
    if (method === 'PUT' && String(former?.version) !== jsonOf(manifest['metadata'])['resourceVersion']) {
      return refusal(409, 'Conflict', 'it was changed meanwhile')
    }
    return this.#write(named, manifest, { manager, operation: 'Update', force: true, dryRun })
  }

  #resources(): Resource[] {
    const definitions = [...this.#objects.values()].filter(
      ({ resource: { kind } }) => kind === 'CustomResourceDefinition',
    )
    return [...builtIn, ...definitions.map(({ fields }) => definedBy(fields.value))]
  }

  #routeTo(manifest: Json): Route & { readonly name: string } {
    const { namespace, name } = jsonOf(manifest['metadata'])
    const group = groupOf(String(manifest['apiVersion']))
    const found = this.#resources().find((one) => one.group === group && one.kind === manifest['kind'])
    if (found === undefined) throw new Error(`the test API has no ${String(manifest['kind'])}`)
    return {
      resource: found,
      namespace: typeof namespace === 'string' ? namespace : undefined,
      name: String(name),
    }
  }

  #get(route: Route): TestAnswer {
    const stored = this.#objects.get(keyOf(route))
    return stored === undefined ? notFound() : { json: this.#show(stored) }
  }

  #list({ resource: { group, plural }, namespace }: Route, query: URLSearchParams): TestAnswer {
    const wanted = (query.get('labelSelector') ?? '').split(',').filter((one) => one !== '')
    const items = [...this.#objects.values()]
      .filter((one) => one.resource.group === group && one.resource.plural === plural)
      .filter((one) => namespace === undefined || one.namespace === namespace)
      .map((one) => this.#show(one))
      .filter((object) => {
        const labels = jsonOf(jsonOf(object['metadata'])['labels'] ?? {})
        return wanted.every((one) => {
          const [key = '', value] = one.split('=')
          return value === undefined ? Object.hasOwn(labels, key) : labels[key] === value
        })
      })
    return { json: { metadata: { resourceVersion: String(this.#ticks) }, items } }
  }

  #write(route: Route, manifest: Json, how: How): TestAnswer {
    const { resource: kind, namespace, name = '' } = route
    if (namespace !== undefined && !this.#objects.has(`/namespaces//${namespace}`)) return notFound()
    const former = this.#objects.get(keyOf(route))
    const wished = leavesOf(manifest)
    const others = former?.owners.filter((owner) => !isSame(owner, how)) ?? []
    const conflicts = wished.flatMap((leaf) => conflictOf(leaf, former?.fields, others))
    if (conflicts.length > 0 && !how.force) {
      return refusal(409, 'Conflict', `Apply failed with ${conflicts.length} conflicts`, conflicts)
    }
    const time = this.#time(how.dryRun ? 0 : 1)
    const own = former?.owners.find((owner) => isSame(owner, how))
    const paths = new Set(wished.map(({ path }) => path))
    const taken = new Set(conflicts.map(({ field }) => field.slice(1)))
    const fields = (former?.fields ?? new Fields()).with(wished).without(
      // Who writes all of an object takes away what is not in it; who applies, what nobody else has.
      how.operation === 'Update'
        ? (former?.fields.paths ?? []).filter((path) => !paths.has(path))
        : [...(own?.paths ?? [])].filter(
            (path) => !paths.has(path) && !others.some((other) => other.paths.has(path)),
          ),
    )
    const isChanged = former === undefined || !former.fields.equals(fields)
    const isOwnedAnew = own === undefined || [...own.paths].join() !== [...paths].join()
    const next: Stored = {
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
          time: own === undefined || isChanged || isOwnedAnew ? time : own.time,
          paths,
        },
      ],
      uid: former?.uid ?? `uid-${this.#ticks}`,
      created: former?.created ?? time,
      version: isChanged || isOwnedAnew ? this.#ticks : former.version,
      generation: isChanged ? (former?.generation ?? 0) + 1 : former.generation,
      removing: former?.removing ?? false,
    }
    if (!how.dryRun) this.#objects.set(keyOf(route), next)
    return { status: former === undefined ? 201 : 200, json: this.#show(next) }
  }

  #remove(route: Route, options: Json): TestAnswer {
    const stored = this.#objects.get(keyOf(route))
    if (stored === undefined) return notFound()
    const { uid } = jsonOf(options['preconditions'] ?? {})
    if (uid !== undefined && uid !== stored.uid) return refusal(409, 'Conflict', 'Precondition failed: UID')
    this.#time(1)
    if (stored.fields.paths.includes('metadata.finalizers')) stored.removing = true
    else this.#delete(keyOf(route))
    return { json: { kind: 'Status', status: 'Success' } }
  }

  /** With all that is in it, or of its kind. */
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

  #show(stored: Stored): Json {
    const { resource: kind, namespace, name, fields, owners, uid, created } = stored
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
    const { metadata, ...rest } = fields.value
    const object = {
      apiVersion,
      kind: kind.kind,
      metadata: {
        ...jsonOf(metadata ?? {}),
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

interface How {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly force: boolean
  readonly dryRun: boolean
}

function isSame(owner: Owner, { manager, operation }: How): boolean {
  return owner.manager === manager && owner.operation === operation
}

function conflictOf(
  { path, value }: Leaf,
  fields: Fields | undefined,
  others: readonly Owner[],
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

function keyOf({ resource: { group, plural }, namespace = '', name = '' }: Route): string {
  return `${group}/${plural}/${namespace}/${name}`
}

function refusal(
  status: number,
  reason: string,
  message: string,
  causes: readonly object[] = [],
): TestAnswer {
  return { status, json: { kind: 'Status', reason, message, details: { causes } } }
}

function notFound(): TestAnswer {
  return refusal(404, 'NotFound', 'not found')
}
