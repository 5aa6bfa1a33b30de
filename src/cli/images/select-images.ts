import { addonImages } from '../../addons/desired-addons.ts'
import type { Cluster } from '../../spec/cluster.ts'

/** Of some images by name those that a cluster needs: its sandboxes’, and those of addons that are not switched off. */
export function wantedImages(
  cluster: Cluster,
  images: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const addons = new Set(addonImages(cluster, images))
  return Object.fromEntries(
    Object.entries(images).filter(([name, image]) => name === 'pause' || addons.has(image)),
  )
}
