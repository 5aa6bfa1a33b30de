import { HyperkubeError } from '../kit/errors.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { describeReference, type Reference } from './reference.ts'

/** A field of ours that somebody else has set to something else. */
export interface FieldConflict {
  /** As the API writes it: .spec.replicas. */
  readonly path: string
  readonly manager: string
}

/** Undefined when it is some other error. */
export function conflictsIn(error: unknown): FieldConflict[] | undefined {
  if (!isKubeError(error, 'KUBE_CONFLICT')) return undefined
  const conflicts = error.causes.filter(({ reason }) => reason === 'FieldManagerConflict')
  if (conflicts.length === 0) return undefined
  return conflicts.map(({ field = '', message }) => ({
    path: field,
    manager: /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? 'somebody else',
  }))
}

export function describeConflicts(conflicts: readonly FieldConflict[]): string {
  return conflicts.map(({ path, manager }) => `${path} is set by ${manager}`).join(', ')
}

/** The two ways out. */
export function conflictHint(addon: string): string {
  return `leave the field out of the manifest, or take it over: force: true of addon ${addon}`
}

export function conflictError(
  addon: string,
  reference: Reference,
  conflicts: readonly FieldConflict[],
): HyperkubeError {
  const what = `addon ${addon}: ${describeReference(reference)}: ${describeConflicts(conflicts)}`
  return new HyperkubeError('ADDON_CONFLICT', what, { hint: conflictHint(addon) })
}
