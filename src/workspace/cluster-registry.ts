import { listAddonImages } from '../addons/desired-addons.ts'
import { type Registry, remoteRegistry } from '../catalog/registry/registry.ts'
import type { ClusterWeb } from './cluster-web.ts'
import type { Cluster } from '../spec/cluster.ts'

/** Creates a registry client that tries the mirrors first, as hosts do. */
export function createClusterRegistry(
  { web, logins }: Pick<ClusterWeb, 'web' | 'logins'>,
  { spec }: Cluster,
): Registry {
  const mirrors = new Map(spec.registries.map((registry) => [registry.host, registry.mirrors]))
  return remoteRegistry(web, (host) => mirrors.get(host) ?? [], logins)
}

/** True if a mirror uses plain HTTP, so an attacker on the network could replace images. */
export function hasUnencryptedMirror({ spec }: Cluster): boolean {
  return spec.registries.some(({ mirrors }) => mirrors.some((mirror) => mirror.startsWith('http:')))
}

/** Selects the images that a cluster needs: the sandbox image and those of enabled addons. */
export function selectImages(
  cluster: Cluster,
  images: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const addons = new Set(listAddonImages(cluster, images))
  return Object.fromEntries(
    Object.entries(images).filter(([name, image]) => name === 'pause' || addons.has(image)),
  )
}
