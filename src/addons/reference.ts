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

/** Equal for all versions of an object: apps/v1 and apps/v2 would be one Deployment. */
export function formatReferenceKey({ apiVersion, kind, namespace = '', name }: ObjectReference): string {
  return `${parseGroup(apiVersion)}/${kind}/${namespace}/${name}`
}

/** The core group has an empty name. */
export function parseGroup(apiVersion: string): string {
  const [group = '', version] = apiVersion.split('/')
  return version === undefined ? '' : group
}

/** Text for people: Deployment kube-system/coredns. */
export function describeReference({ kind, namespace, name }: ObjectReference): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}
