import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/kube-error.ts'
import type { KubeObject, Manifest } from '../kube/object.ts'
import type { KubeCallOptions } from '../kube/request.ts'
import { applyObject } from '../kube/write-objects.ts'
import type { DesiredObjectChange } from './addon-difference.ts'
import type { Addon } from './addon.ts'
import { buildConflictHint, type FieldConflict, findConflicts } from './conflict.ts'
import { needsPrerequisite, type PendingPrerequisites } from './prerequisites.ts'
import { hideSecretValues, isSecret, type ObjectReference, parseGroup, toReference } from './reference.ts'
import { findDefinedGroups, isNamespace } from './waves.ts'

export interface ManifestContext {
  readonly addon: Addon
  /** The existing object of the manifest. */
  readonly live: KubeObject | undefined
  /** Prerequisites of this addon and of the addons that are applied before it. */
  readonly prerequisites: PendingPrerequisites
}

/** Computes what applying one manifest would change, with a server-side dry run. */
export async function diffManifest(
  client: KubeClient,
  manifest: Manifest,
  { addon, live, prerequisites }: ManifestContext,
  options: KubeCallOptions = {},
): Promise<DesiredObjectChange> {
  const reference = toReference(manifest)
  const current = live?.metadata.deletionTimestamp === undefined ? live : undefined
  if (current === undefined && needsOtherObjects(reference, addon)) return { ...reference, change: 'create' }
  try {
    const { object, taken } = await dryRunApply(client, manifest, addon.force ?? false, options)
    if (current === undefined) return { ...reference, change: 'create' }
    const fields = findChangedFields(stripServerFields(current), stripServerFields(object)).map((field) =>
      hideSecretField(field, reference),
    )
    if (fields.length === 0 && taken.length === 0) return { ...reference, change: 'none' }
    return { ...reference, change: 'change', fields, ...(taken.length === 0 ? {} : { taken }) }
  } catch (error) {
    const conflicts = findConflicts(error)
    if (conflicts !== undefined)
      return { ...reference, change: 'conflict', conflicts, hint: buildConflictHint(addon.name, reference) }
    const change = toRefusedChange(error, reference)
    if (change.change !== 'refused' || !needsPrerequisite(reference, prerequisites)) return change
    return current === undefined
      ? { ...reference, change: 'create' }
      : { ...reference, change: 'unknown', reason: 'its CustomResourceDefinition changes too' }
  }
}

/**
 * True if the addon itself creates the namespace or the CRD of the object. A dry run of the object is not
 * possible before they exist.
 */
function needsOtherObjects({ apiVersion, namespace }: ObjectReference, { manifests }: Addon): boolean {
  const references = manifests.map(toReference)
  if (findDefinedGroups(references).has(parseGroup(apiVersion))) return true
  return references.some((other) => isNamespace(other) && other.name === namespace)
}

async function dryRunApply(
  client: KubeClient,
  manifest: Manifest,
  force: boolean,
  options: KubeCallOptions,
): Promise<{ readonly object: KubeObject; readonly taken: FieldConflict[] }> {
  try {
    return { object: await applyObject(client, manifest, { ...options, dryRun: true }), taken: [] }
  } catch (error) {
    const taken = findConflicts(error)
    if (taken === undefined || !force) throw error
    return { object: await applyObject(client, manifest, { ...options, dryRun: true, force: true }), taken }
  }
}

/** Drops the status and the fields that the API server changes on every write. */
function stripServerFields({ metadata, ...rest }: KubeObject): unknown {
  const {
    managedFields: _managedFields,
    resourceVersion: _resourceVersion,
    generation: _generation,
    creationTimestamp: _creationTimestamp,
    uid: _uid,
    ...fields
  } = metadata
  const { status: _status, ...object } = rest
  return { metadata: fields, ...object }
}

/**
 * Fields of a Secret whose values are hidden. Annotations are included, because kubectl stores the last
 * applied manifest in an annotation.
 */
const secretParts = /^(?:data|stringData|metadata\.annotations)(?![A-Za-z])/

function hideSecretField(
  field: ChangedField,
  reference: ObjectReference,
): ChangedField & { readonly hidden?: true } {
  if (!isSecret(reference) || !secretParts.test(field.path)) return field
  return { path: field.path, hidden: true }
}

function toRefusedChange(error: unknown, reference: ObjectReference): DesiredObjectChange {
  const shownError = isSecret(reference) ? hideSecretValues(error, reference) : error
  if (!(error instanceof KubeError)) throw shownError
  // The API rejects a dry run if a webhook with side effects does not support it.
  if (error.apiMessage.includes('does not support dry run')) {
    return { ...reference, change: 'unknown', reason: 'an admission webhook does not support dry run' }
  }
  if (!refusalCodes.has(error.code)) throw shownError
  const reason = isSecret(reference) ? 'the API rejects it' : error.message
  return { ...reference, change: 'refused', reason }
}

const refusalCodes: ReadonlySet<string> = new Set([
  'KUBE_INVALID',
  'KUBE_FORBIDDEN',
  'KUBE_NOT_FOUND',
  'KUBE_KIND_UNKNOWN',
])

/** A changed field. Without `before` the field is added, without `after` it is removed. */
interface ChangedField {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** Lists all differences between two values. Each path is as deep as possible: spec.containers[0].image. */
export function findChangedFields(before: unknown, after: unknown, path = ''): ChangedField[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
    return keys.flatMap((key) => findChangedFields(before[key], after[key], joinPath(path, key)))
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length)
    return Array.from({ length }, (_, index) => index).flatMap((index) =>
      findChangedFields(before[index], after[index], `${path}[${index}]`),
    )
  }
  if (Object.is(before, after)) return []
  return [
    {
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    },
  ]
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function joinPath(path: string, key: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}
