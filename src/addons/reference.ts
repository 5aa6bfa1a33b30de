import { HyperkubeError } from '../kit/errors.ts'
import { KubeError } from '../kube/kube-error.ts'

/** Identifies an object in the cluster. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  /** Undefined for cluster-scoped objects. */
  readonly namespace?: string | undefined
  readonly name: string
}

export function toReference({
  apiVersion,
  kind,
  metadata: { namespace, name },
}: {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string }
}): ObjectReference {
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name }
}

/**
 * Returns a key of the object. It contains the group but not the version, because all versions of a group
 * show the same object.
 */
export function formatReferenceKey({ apiVersion, kind, namespace = '', name }: ObjectReference): string {
  return `${parseGroup(apiVersion)}/${kind}/${namespace}/${name}`
}

/** Returns the API group of an apiVersion; empty for the core group. */
export function parseGroup(apiVersion: string): string {
  const [group = '', version] = apiVersion.split('/')
  return version === undefined ? '' : group
}

/** Formats a reference for messages, for example `Deployment kube-system/coredns`. */
export function describeReference({ kind, namespace, name }: ObjectReference): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

export function isSecret({ apiVersion, kind }: Pick<ObjectReference, 'apiVersion' | 'kind'>): boolean {
  return kind === 'Secret' && parseGroup(apiVersion) === ''
}

/**
 * Replaces an API error about a Secret with an error without the API's message. That message may quote the
 * rejected value.
 */
export function hideSecretValues(error: unknown, reference: ObjectReference): unknown {
  if (!(error instanceof KubeError) || !hasApiMessage(error)) return error
  return new HyperkubeError(error.code, `${describeReference(reference)}: the API rejects it`, {
    hint: 'the reason may contain values of the Secret; to see it: kubectl apply --dry-run=server -f FILE',
  })
}

/** True if the error or one of its causes contains a message of the API. */
function hasApiMessage(error: unknown): boolean {
  if (error instanceof KubeError && error.apiMessage !== '') return true
  if (error instanceof AggregateError && error.errors.some(hasApiMessage)) return true
  return error instanceof Error && error.cause !== undefined && hasApiMessage(error.cause)
}
