import { HyperkubeError } from '../kit/errors.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { describeReference, type ObjectReference } from './reference.ts'

/** A desired field that another field manager has set to another value. */
export interface FieldConflict {
  /** Path of the field as in API messages: .spec.replicas. */
  readonly path: string
  readonly manager: string
}

/** Lists the field conflicts of a failed apply. Returns undefined for any other error. */
export function findConflicts(error: unknown): FieldConflict[] | undefined {
  if (!isKubeError(error, 'KUBE_CONFLICT')) return undefined
  const conflicts = error.causes.filter(({ reason }) => reason === 'FieldManagerConflict')
  if (conflicts.length === 0) return undefined
  return conflicts.map(({ field = '', message }) => ({
    path: field,
    manager: /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? 'an unknown manager',
  }))
}

export function describeConflicts(conflicts: readonly FieldConflict[]): string {
  return conflicts.map(({ path, manager }) => `${path} is set by ${manager}`).join(', ')
}

/** Names the two ways to resolve a conflict. */
export function buildConflictHint(addon: string): string {
  return `remove the field from the manifest, or take it over: set force: true for addon ${addon}`
}

export function buildConflictError(
  addon: string,
  reference: ObjectReference,
  conflicts: readonly FieldConflict[],
): HyperkubeError {
  const message = `addon ${addon}: ${describeReference(reference)}: ${describeConflicts(conflicts)}`
  return new HyperkubeError('ADDON_CONFLICT', message, { hint: buildConflictHint(addon) })
}
