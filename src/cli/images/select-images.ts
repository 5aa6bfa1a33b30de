import { listAddonImages } from '../../addons/desired-addons.ts'
import type { Cluster } from '../../spec/cluster.ts'

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
