/** Windows Server, by build: those that Kubernetes is tested on, the older one first. */
export const windowsServers: readonly { readonly build: number; readonly name: string }[] = [
  { build: 20_348, name: 'Server 2022' },
  { build: 26_100, name: 'Server 2025' },
]

/** What a kubelet says of its node's build, and what stands there. */
export const windowsBuildLabel = 'node.kubernetes.io/windows-build'

export function windowsBuildVersion(build: number): string {
  return `10.0.${build}`
}

/**
 * Whether a container of an image shares the host's kernel well, as containerd judges it. Since Server 2022 a host also runs
 * what was made for the server release before its own; before that, builds had to be the same. Revisions do not matter.
 */
export function runsOn(image: number, host: number): boolean {
  const releases = windowsServers.map(({ build }) => build).filter((build) => build <= host)
  const floor = releases.at(-2) ?? releases.at(-1) ?? host
  return floor <= image && image <= host
}
