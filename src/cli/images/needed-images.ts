import { findKubernetesRelease } from '../../catalog/catalog.ts'
import { type Lock, pinnedImages } from '../../catalog/lock.ts'
import { parseImage, stripDigest } from '../../contract/image-reference.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { selectImages } from './select-images.ts'

/** An image that a cluster needs. */
export interface NeededImage {
  readonly name: string
  readonly image: string
  /** Digest that the lock pins. */
  readonly digest?: string
  readonly for: string
}

const purposes: Readonly<Record<string, string>> = {
  pause: 'the sandbox of every pod',
  coredns: 'names of services: dns',
  'metrics-server': 'what pods and nodes use: metrics',
  traefik: 'the way in from outside: ingress',
  'local-path-provisioner': 'volumes on nodes: storage',
  busybox: 'helpers of volumes: storage',
}

export function listNeededImages(cluster: Cluster, lock: Lock | undefined): readonly NeededImage[] {
  const release = findKubernetesRelease(cluster.spec.kubernetes)
  const pinned = pinnedImages({ images: lock?.images ?? {} }, release)
  return Object.entries(selectImages(cluster, pinned)).map(([name, reference]) => {
    const digest = parseImage(reference)?.digest
    return {
      name,
      image: stripDigest(reference),
      ...(digest === undefined ? {} : { digest }),
      for: purposes[name] ?? name,
    }
  })
}
