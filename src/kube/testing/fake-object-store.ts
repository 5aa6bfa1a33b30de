import { isDeepStrictEqual } from 'node:util'
import { applyMergePatch } from '../../kit/merge-patch.ts'
import { kubeObject, type KubeObject } from '../object.ts'
import { FieldSet, type FieldValue, type JsonFields, listFields, parseJsonFields } from './field-set.ts'
import { formatRouteKey, type ResourceRoute } from './fake-resources.ts'

export interface StoreEvent {
  readonly revision: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly route: ResourceRoute
  readonly object: KubeObject
}

interface FieldOwner {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly subresource: string
  readonly time: string
  readonly paths: ReadonlySet<string>
}

interface StoredObject {
  readonly route: ResourceRoute
  readonly object: KubeObject
  readonly owners: readonly FieldOwner[]
}

export interface WriteOptions {
  readonly manager: string
  /** `replace` is PUT and POST, `merge` a merge patch, `apply` a server-side apply. */
  readonly mode: 'replace' | 'merge' | 'apply'
  /** Part of the object that the write may change; undefined for the whole object. */
  readonly part: 'main' | 'status' | undefined
  readonly force: boolean
  readonly dryRun: boolean
}

/** A field that another manager owns with another value, as in the causes of a Status object. */
export interface FieldConflict {
  readonly reason: 'FieldManagerConflict'
  readonly field: string
  readonly message: string
}

export type WriteResult =
  | { readonly object: KubeObject; readonly isChanged: boolean }
  | { readonly conflicts: readonly FieldConflict[] }

/** The objects of a fake API with resource versions, field owners and a log of all changes. */
export class FakeObjectStore {
  /** All changes since the start. */
  readonly log: StoreEvent[] = []
  readonly #objects = new Map<string, StoredObject>()
  readonly #now: (() => Date) | undefined
  readonly #onEvent: (event: StoreEvent) => void
  #revision: number

  /**
   * Without `now`, the time advances by one second with each revision, so that each write has a different
   * time.
   */
  constructor(revision: number, now: (() => Date) | undefined, onEvent: (event: StoreEvent) => void) {
    this.#revision = revision
    this.#now = now
    this.#onEvent = onEvent
  }

  get revision(): number {
    return this.#revision
  }

  get(route: ResourceRoute): KubeObject | undefined {
    return this.#objects.get(formatRouteKey(route))?.object
  }

  list(matches: (route: ResourceRoute) => boolean): KubeObject[] {
    return [...this.#objects.values()].flatMap(({ route, object }) => (matches(route) ? [object] : []))
  }

  /** Lists the objects that existed at a revision. */
  listAt(revision: number, matches: (route: ResourceRoute) => boolean): KubeObject[] {
    if (revision === this.#revision) return this.list(matches)
    const objects = new Map<string, KubeObject>()
    for (const event of this.log) {
      if (event.revision > revision || !matches(event.route)) continue
      const key = formatRouteKey(event.route)
      if (event.type === 'DELETED') objects.delete(key)
      else objects.set(key, event.object)
    }
    return [...objects.values()]
  }

  /** Stores an object as given, without field owners. */
  put(route: ResourceRoute, fields: JsonFields): KubeObject {
    return this.#store(route, fields, [])
  }

  /** Changes an object with a merge patch and leaves the field owners as they are. */
  change(route: ResourceRoute, patch: object): KubeObject {
    const previous = this.#objects.get(formatRouteKey(route))
    return this.#store(route, applyMergePatch(previous?.object, patch), previous?.owners ?? [])
  }

  write(route: ResourceRoute, body: JsonFields, options: WriteOptions): WriteResult {
    const previous = this.#objects.get(formatRouteKey(route))
    const before = new FieldSet().with(listFields(previous?.object ?? {}))
    const next = buildNext(previous?.object, body, options)
    const desired = listFields(next).filter(({ path }) => isInPart(path, options.part))
    const others = previous?.owners.filter((owner) => !isSameOwner(owner, options)) ?? []
    const own = previous?.owners.find((owner) => isSameOwner(owner, options))
    const changed = desired.filter((field) => !before.has(field))
    const conflicts = options.mode === 'apply' ? findConflicts(changed, before, others) : []
    if (conflicts.length > 0 && !options.force) return { conflicts }
    const paths = new Set(desired.map(({ path }) => path))
    const removed =
      options.mode === 'apply'
        ? [...(own?.paths ?? [])].filter(
            (path) => !paths.has(path) && !others.some((other) => other.paths.has(path)),
          )
        : before.paths.filter((path) => isInPart(path, options.part) && !paths.has(path))
    const lost = new Set([...changed.map(({ path }) => path), ...removed])
    const ownPaths =
      options.mode === 'apply'
        ? paths
        : new Set([...(own?.paths ?? []), ...lost].filter((path) => paths.has(path)))
    const isOwnershipChanged = own === undefined || !isDeepStrictEqual(own.paths, ownPaths)
    const isChanged = changed.length > 0 || removed.length > 0
    const owner: FieldOwner = {
      ...toOwnerKey(options),
      time: isChanged || isOwnershipChanged ? this.#time() : (own?.time ?? this.#time()),
      paths: ownPaths,
    }
    const remaining = others.map((other) => ({
      ...other,
      paths: new Set([...other.paths].filter((path) => !lost.has(path))),
    }))
    const fields =
      options.mode === 'apply'
        ? { ...pickIdentity(previous?.object ?? body), ...before.without(removed).with(desired).value }
        : next
    const withIdentity = restoreServerFields(fields, previous?.object ?? body)
    const owners = [...remaining.filter((other) => other.paths.size > 0), owner]
    if (options.dryRun) return { object: this.#build(route, withIdentity, owners), isChanged: false }
    const version = previous?.object.metadata.resourceVersion
    const object = this.#store(route, withIdentity, owners)
    return { object, isChanged: object.metadata.resourceVersion !== version }
  }

  /**
   * Deletes an object. Deleting a namespace also deletes its contents, and deleting a CRD also deletes all
   * objects of its kind.
   */
  remove(route: ResourceRoute): void {
    const stored = this.#objects.get(formatRouteKey(route))
    if (stored === undefined) return
    this.#objects.delete(formatRouteKey(route))
    const metadata = { ...stored.object.metadata, resourceVersion: String(this.#revision + 1) }
    this.#record('DELETED', route, { ...stored.object, metadata })
    for (const { route: other } of this.#objects.values()) {
      const { plural, group } = other.resource
      const isInside = route.resource.kind === 'Namespace' && other.namespace === route.name
      const isOfKind =
        route.resource.kind === 'CustomResourceDefinition' && route.name === `${plural}.${group}`
      if (isInside || isOfKind) this.remove(other)
    }
  }

  #store(route: ResourceRoute, fields: unknown, owners: readonly FieldOwner[]): KubeObject {
    const previous = this.#objects.get(formatRouteKey(route))
    const object = this.#build(route, fields, owners)
    if (previous !== undefined && isSameVersion(previous.object, object)) return previous.object
    this.#objects.set(formatRouteKey(route), { route, object, owners })
    this.#record(previous === undefined ? 'ADDED' : 'MODIFIED', route, object)
    return object
  }

  /** Adds the metadata that the API server sets. */
  #build(route: ResourceRoute, fields: unknown, owners: readonly FieldOwner[]): KubeObject {
    const previous = this.get(route)
    const desired = kubeObject.parse(fields)
    const { apiVersion } = desired
    const given = desired.metadata
    const isSpecChanged = !isDeepStrictEqual(omitMetadata(previous), omitMetadata(desired))
    const generation = (previous?.metadata.generation ?? 0) + (isSpecChanged ? 1 : 0)
    const metadata = {
      ...given,
      uid: previous?.metadata.uid ?? given.uid ?? `uid-${this.#revision + 1}`,
      creationTimestamp:
        previous?.metadata['creationTimestamp'] ?? given['creationTimestamp'] ?? this.#time(),
      generation: previous === undefined ? (given.generation ?? 1) : generation,
      resourceVersion: String(this.#revision + 1),
      ...(owners.length === 0
        ? {}
        : {
            managedFields: owners.map(({ manager, operation, subresource, time }) => ({
              ...{ manager, operation, time, apiVersion },
              ...(subresource === '' ? {} : { subresource }),
            })),
          }),
    }
    return { ...desired, metadata }
  }

  #record(type: StoreEvent['type'], route: ResourceRoute, object: KubeObject): void {
    this.#revision++
    const event = { revision: this.#revision, type, route, object }
    this.log.push(event)
    this.#onEvent(event)
  }

  #time(): string {
    const time = this.#now?.() ?? new Date((this.#revision + 1) * 1000)
    return time.toISOString().replace(/\.\d+/, '')
  }
}

/** Returns the object after the write. `part` and `mode` limit which fields the write may change. */
function buildNext(
  previous: KubeObject | undefined,
  body: JsonFields,
  { mode, part }: WriteOptions,
): JsonFields {
  const { status, ...main } = body
  const partFields = part === undefined ? body : part === 'main' ? main : { status }
  if (mode === 'apply') return partFields
  if (mode === 'merge') return parseJsonFields(applyMergePatch(previous ?? {}, partFields))
  if (part === undefined) return body
  if (part === 'status') return { ...previous, status }
  return previous?.['status'] === undefined ? main : { ...main, status: previous['status'] }
}

function isInPart(path: string, part: WriteOptions['part']): boolean {
  const isStatus = path === 'status' || path.startsWith('status.')
  return part === undefined || isStatus === (part === 'status')
}

function pickIdentity({ apiVersion, kind }: JsonFields): JsonFields {
  return { apiVersion, kind }
}

/** Restores the metadata that clients must not change. */
function restoreServerFields(fields: JsonFields, source: JsonFields): JsonFields {
  const { name, namespace, deletionTimestamp } = parseJsonFields(source['metadata'] ?? {})
  const { managedFields: _managedFields, ...given } = parseJsonFields(fields['metadata'] ?? {})
  return {
    ...fields,
    metadata: {
      ...given,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
  }
}

function omitMetadata(object: KubeObject | undefined): unknown {
  if (object === undefined) return undefined
  const { metadata: _metadata, status: _status, ...rest } = object
  return rest
}

function isSameVersion(previous: KubeObject, next: KubeObject): boolean {
  const { resourceVersion } = previous.metadata
  return isDeepStrictEqual(previous, { ...next, metadata: { ...next.metadata, resourceVersion } })
}

function toOwnerKey({
  manager,
  mode,
  part,
}: WriteOptions): Pick<FieldOwner, 'manager' | 'operation' | 'subresource'> {
  return {
    manager,
    operation: mode === 'apply' ? 'Apply' : 'Update',
    subresource: part === 'status' ? 'status' : '',
  }
}

function isSameOwner(owner: FieldOwner, options: WriteOptions): boolean {
  const { manager, operation, subresource } = toOwnerKey(options)
  return owner.manager === manager && owner.operation === operation && owner.subresource === subresource
}

function findConflicts(
  changed: readonly FieldValue[],
  before: FieldSet,
  others: readonly FieldOwner[],
): FieldConflict[] {
  const existing = new Set(before.paths)
  return changed
    .filter(({ path }) => existing.has(path))
    .flatMap(({ path }) =>
      others
        .filter((other) => other.paths.has(path))
        .map(({ manager }) => ({
          reason: 'FieldManagerConflict',
          field: `.${path}`,
          message: `conflict with ${JSON.stringify(manager)} using v1 at 2026-01-01T00:00:00Z`,
        })),
    )
}
