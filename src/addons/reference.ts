/** Which object is meant, wherever it is. */
export interface Reference {
  readonly apiVersion: string
  readonly kind: string
  /** None for those that belong to the whole cluster. */
  readonly namespace?: string | undefined
  readonly name: string
}

/** An object or a manifest as a reference to it. */
export function referenceOf({
  apiVersion,
  kind,
  metadata: { namespace, name },
}: {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string }
}): Reference {
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name }
}

/** The same for every version in which an object can be read: apps/v1 and apps/v2 would be one Deployment. */
export function keyOf({ apiVersion, kind, namespace = '', name }: Reference): string {
  return `${groupOf(apiVersion)}/${kind}/${namespace}/${name}`
}

/** The first group has no name. */
export function groupOf(apiVersion: string): string {
  const [group = '', version] = apiVersion.split('/')
  return version === undefined ? '' : group
}

/** For people: Deployment kube-system/coredns. */
export function describeReference({ kind, namespace, name }: Reference): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}
