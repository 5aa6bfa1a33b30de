import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/kube-error.ts'
import type { KubeObject, Manifest } from '../kube/object.ts'
import type { CallOptions } from '../kube/request.ts'
import { apply } from '../kube/write-objects.ts'
import type { Addon } from './addon.ts'
import { type ChangedField, changedFields } from './changed-fields.ts'
import { conflictHint, conflictsIn, type FieldConflict } from './conflict.ts'
import type { WishedObject } from './addon-difference.ts'
import { groupOf, type Reference, referenceOf } from './reference.ts'
import { isSecret } from './secret.ts'
import { definedGroups, isNamespace } from './waves.ts'

/** What would become of one manifest, as the API says when it is asked to apply it without doing so. */
export async function wishedObject(
  client: KubeClient,
  addon: Addon,
  manifest: Manifest,
  live: KubeObject | undefined,
  options: CallOptions = {},
): Promise<WishedObject> {
  const reference = referenceOf(manifest)
  const now = live?.metadata.deletionTimestamp === undefined ? live : undefined
  if (now === undefined && comesAfterOthers(reference, addon)) return { ...reference, change: 'create' }
  try {
    const { object, taken } = await tried(client, manifest, addon.force ?? false, options)
    if (now === undefined) return { ...reference, change: 'create' }
    const fields = changedFields(comparable(now), comparable(object)).map((field) => shown(field, reference))
    if (fields.length === 0 && taken.length === 0) return { ...reference, change: 'none' }
    return { ...reference, change: 'change', fields, ...(taken.length === 0 ? {} : { taken }) }
  } catch (error) {
    const conflicts = conflictsIn(error)
    if (conflicts !== undefined)
      return { ...reference, change: 'conflict', conflicts, hint: conflictHint(addon.name) }
    return unapplied(error, reference)
  }
}

/** Its namespace, or the definition of its kind, is only made when the addon is put there: nothing can be tried before. */
function comesAfterOthers({ apiVersion, namespace }: Reference, { manifests }: Addon): boolean {
  const references = manifests.map(referenceOf)
  if (definedGroups(references).has(groupOf(apiVersion))) return true
  return references.some((other) => isNamespace(other) && other.name === namespace)
}

async function tried(
  client: KubeClient,
  manifest: Manifest,
  force: boolean,
  options: CallOptions,
): Promise<{ readonly object: KubeObject; readonly taken: FieldConflict[] }> {
  try {
    return { object: await apply(client, manifest, { ...options, dryRun: true }), taken: [] }
  } catch (error) {
    const taken = conflictsIn(error)
    if (taken === undefined || !force) throw error
    return { object: await apply(client, manifest, { ...options, dryRun: true, force: true }), taken }
  }
}

/** What the API writes by itself at every change, and what others report. */
function comparable({ metadata, ...rest }: KubeObject): unknown {
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

/** An annotation of a Secret may hold all of it: kubectl keeps there what it has applied. */
const secretParts = /^(?:data|stringData|metadata\.annotations)(?![A-Za-z])/

function shown(field: ChangedField, reference: Reference): ChangedField & { readonly hidden?: true } {
  if (!isSecret(reference) || !secretParts.test(field.path)) return field
  return { path: field.path, hidden: true }
}

function unapplied(error: unknown, reference: Reference): WishedObject {
  if (!(error instanceof KubeError)) throw error
  // It takes none of our word for it: some webhooks have effects that they cannot try.
  if (error.said.includes('does not support dry run')) {
    return { ...reference, change: 'unknown', reason: 'a webhook cannot be asked without effect' }
  }
  if (!refusals.has(error.code)) throw error
  const reason = isSecret(reference) ? 'the API does not take it' : error.message
  return { ...reference, change: 'refused', reason }
}

const refusals: ReadonlySet<string> = new Set([
  'KUBE_INVALID',
  'KUBE_FORBIDDEN',
  'KUBE_NOT_FOUND',
  'KUBE_KIND_UNKNOWN',
])
