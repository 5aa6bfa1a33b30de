/** Component versions that were built and tested together, without a leading v. */
export interface KubernetesRelease {
  readonly kubernetes: string
  readonly etcd: string
  readonly containerd: string
  readonly runc: string
  readonly cniPlugins: string
  readonly flannel: string
  readonly crictl: string
  /** Wraps programs as Windows services that are not services themselves. */
  readonly shawl: string
  readonly images: Readonly<Record<string, string>>
}
