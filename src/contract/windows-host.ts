/** Windows Server releases that Kubernetes is tested on, oldest first. */
export const windowsServers: readonly { readonly build: number; readonly name: string }[] = [
  { build: 20_348, name: 'Server 2022' },
  { build: 26_100, name: 'Server 2025' },
]

/** Node label with the Windows build, set by the kubelet. */
export const windowsBuildLabel = 'node.kubernetes.io/windows-build'

export function windowsBuildVersion(build: number): string {
  return `10.0.${build}`
}

/**
 * True if a container with this image build can share the host's kernel. This is containerd's rule: hosts
 * newer than Server 2022 also run images of the previous server release. Revisions do not matter.
 */
export function canRunOn(image: number, host: number): boolean {
  const releases = windowsServers.map(({ build }) => build).filter((build) => build <= host)
  const floor = releases.at(-2) ?? releases.at(-1) ?? host
  return floor <= image && image <= host
}

/**
 * Windows services that hyperkube creates. A service with such a name whose program is outside of hyperkube's
 * directory is foreign.
 */
const ownWindowsServices = [
  'hyperkube-agent',
  'containerd',
  'apiserver-proxy',
  'kubelet',
  'flanneld',
  'kube-proxy',
] as const

/**
 * Services of other Kubernetes distributions, which would conflict with hyperkube over the host's network.
 */
export const otherNodeServices = ['rke2', 'k0sworker', 'rancher-wins'] as const

/** Services that the agent searches for on a host. */
export const watchedWindowsServices: readonly string[] = [
  ...ownWindowsServices,
  ...otherNodeServices,
  'docker',
]
