import type { Manifest } from '../../kube/object.ts'
import type { UserAddon } from '../../spec/addons.ts'
import { toReference } from '../reference.ts'
import { isNamespace } from '../waves.ts'

interface AddonManifests {
  readonly addon: UserAddon
  readonly manifests: readonly Manifest[]
}

/** Namespaces that every cluster has. */
const systemNamespaces: ReadonlySet<string> = new Set([
  'default',
  'kube-system',
  'kube-public',
  'kube-node-lease',
])

/**
 * Adds the release namespace of each chart, as `helm install --create-namespace` does. Namespaces that an
 * addon already contains are not added, because two addons must not contain the same object.
 */
export function addReleaseNamespaces(addons: readonly AddonManifests[]): AddonManifests[] {
  const existing = new Set([
    ...systemNamespaces,
    ...addons.flatMap(({ manifests }) =>
      manifests
        .map(toReference)
        .filter(isNamespace)
        .map(({ name }) => name),
    ),
  ])
  return addons.map((one) => {
    const namespace = one.addon.chart?.namespace
    if (namespace === undefined || existing.has(namespace)) return one
    existing.add(namespace)
    const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
    return { ...one, manifests: [manifest, ...one.manifests] }
  })
}
