import { HyperkubeError } from '../kit/errors.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { isGatewayApiCrd } from './built-in/gateway-api.ts'
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

/** Codes of all errors that `buildConflictError` creates. */
export const conflictCodes: ReadonlySet<string> = new Set(['ADDON_CONFLICT', 'GATEWAY_API_FOREIGN'])

/** Returns the code of a conflict. CRDs of the Gateway API often belong to another program of the cluster. */
export function findConflictCode(
  addon: string,
  reference: ObjectReference,
): 'GATEWAY_API_FOREIGN' | 'ADDON_CONFLICT' {
  return isGatewayApiCrd(addon, reference) ? 'GATEWAY_API_FOREIGN' : 'ADDON_CONFLICT'
}

/** Names the ways to resolve a conflict. */
export function buildConflictHint(addon: string, reference: ObjectReference): string {
  if (isGatewayApiCrd(addon, reference))
    return 'to use the CRDs that the cluster has: spec.ingress.gatewayApi.crds: external'
  return `remove the field from the manifest, or take it over: set force: true for addon ${addon}`
}

export function buildConflictError(
  addon: string,
  reference: ObjectReference,
  conflicts: readonly FieldConflict[],
): HyperkubeError {
  const message = `addon ${addon}: ${describeReference(reference)}: ${describeConflicts(conflicts)}`
  const hint = buildConflictHint(addon, reference)
  return new HyperkubeError(findConflictCode(addon, reference), message, { hint })
}
