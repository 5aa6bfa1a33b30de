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
