import { HyperkubeError } from '../kit/errors.ts'
import { compareVersions, parseVersion } from './version.ts'

/** Versions of all components that were tested together, without a leading v. */
export interface KubernetesRelease {
  readonly kubernetes: string
  readonly etcd: string
  readonly containerd: string
  readonly runc: string
  readonly cniPlugins: string
  readonly flannel: string
  readonly crictl: string
  /** Version of shawl, which runs ordinary programs as Windows services. */
  readonly shawl: string
  readonly images: Readonly<Record<string, string>>
}

/** All Kubernetes releases that hyperkube supports, newest first. */
export const kubernetesReleases: readonly KubernetesRelease[] = [
  {
    kubernetes: '1.37.1',
    etcd: '3.7.3',
    containerd: '2.3.7',
    runc: '1.5.2',
    cniPlugins: '1.9.1',
    flannel: '0.28.7',
    crictl: '1.36.0',
    shawl: '1.9.0',
    images: {
      pause: 'registry.k8s.io/pause:3.10.2',
      coredns: 'registry.k8s.io/coredns/coredns:v1.15.0',
      'metrics-server': 'registry.k8s.io/metrics-server/metrics-server:v0.9.0',
      traefik: 'docker.io/library/traefik:v3.6.12',
      'local-path-provisioner': 'docker.io/rancher/local-path-provisioner:v0.0.30',
      busybox: 'docker.io/library/busybox:1.37.0',
    },
  },
  {
    kubernetes: '1.36.4',
    etcd: '3.6.16',
    containerd: '2.3.7',
    runc: '1.5.2',
    cniPlugins: '1.9.1',
    flannel: '0.28.7',
    crictl: '1.36.0',
    shawl: '1.9.0',
    images: {
      pause: 'registry.k8s.io/pause:3.10.2',
      coredns: 'registry.k8s.io/coredns/coredns:v1.15.0',
      'metrics-server': 'registry.k8s.io/metrics-server/metrics-server:v0.9.0',
      traefik: 'docker.io/library/traefik:v3.6.12',
      'local-path-provisioner': 'docker.io/rancher/local-path-provisioner:v0.0.30',
      busybox: 'docker.io/library/busybox:1.37.0',
    },
  },
]

/** Maximum number of versions to suggest for an unknown version. */
const maxSuggestions = 3

/** Returns the component versions of a Kubernetes version. Throws if the version is unknown. */
export function findKubernetesRelease(version: string): KubernetesRelease {
  const found = kubernetesReleases.find(({ kubernetes }) => kubernetes === version)
  if (found !== undefined) return found
  const suggestions = nearestVersions(
    version,
    kubernetesReleases.map(({ kubernetes }) => kubernetes),
  )
  throw new HyperkubeError(
    'CATALOG_UNKNOWN_VERSION',
    `this release of hyperkube does not support Kubernetes ${version}`,
    {
      hint: `set spec.kubernetes to ${suggestions.join(' or ')}`,
    },
  )
}

/**
 * Sorts known versions by distance from a version: first by minor, then by patch. Of two equally distant
 * versions the newer one comes first.
 */
export function nearestVersions(version: string, known: readonly string[]): readonly string[] {
  const [, minor, patch] = parseVersion(version)
  const distances = (candidate: string): readonly [number, number] => {
    const [, itsMinor, itsPatch] = parseVersion(candidate)
    return [Math.abs(itsMinor - minor), Math.abs(itsPatch - patch)]
  }
  return known
    .toSorted((a, b) => {
      const [left, right] = [distances(a), distances(b)]
      return left[0] - right[0] || left[1] - right[1] || compareVersions(b, a)
    })
    .slice(0, maxSuggestions)
}
