import { satisfies } from '../kube/object.ts'
import type { Addon } from './addon.ts'
import type { LiveObjects } from './live-objects.ts'
import { formatReferenceKey, type ObjectReference, parseGroup, toReference } from './reference.ts'
import { findDefinedGroups, isCrd, isNamespace } from './waves.ts'

/** CRDs and namespaces that a run will create or change before it applies the objects that need them. */
export interface PendingPrerequisites {
  /** API groups of the CRDs. */
  readonly groups: ReadonlySet<string>
  readonly namespaces: ReadonlySet<string>
}

/** Finds the CRDs and namespaces of these addons that are missing or differ from their manifests. */
export function findPendingPrerequisites(addons: readonly Addon[], live: LiveObjects): PendingPrerequisites {
  const pending = addons
    .flatMap(({ manifests }) => manifests)
    .filter((manifest) => isCrd(toReference(manifest)) || isNamespace(toReference(manifest)))
    .filter((manifest) => !satisfies(live.get(formatReferenceKey(toReference(manifest))), manifest))
    .map(toReference)
  return {
    groups: findDefinedGroups(pending),
    namespaces: new Set(pending.filter(isNamespace).map(({ name }) => name)),
  }
}

/** True if the API may accept the object only after the prerequisites are applied. */
export function needsPrerequisite(
  { apiVersion, namespace = '' }: ObjectReference,
  { groups, namespaces }: PendingPrerequisites,
): boolean {
  return groups.has(parseGroup(apiVersion)) || namespaces.has(namespace)
}
