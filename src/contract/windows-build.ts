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
 * True if a container with this image build can share the host's kernel. This is containerd's rule: since
 * Server 2022 a host also runs images of the previous server release. Revisions do not matter.
 */
export function canRunOn(image: number, host: number): boolean {
  const releases = windowsServers.map(({ build }) => build).filter((build) => build <= host)
  const floor = releases.at(-2) ?? releases.at(-1) ?? host
  return floor <= image && image <= host
}
