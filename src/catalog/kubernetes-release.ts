/** Versions that belong together: what was built and run as one, without a leading v. */
export interface Release {
  readonly kubernetes: string
  readonly etcd: string
  readonly containerd: string
  readonly runc: string
  readonly cniPlugins: string
  readonly flannel: string
  readonly crictl: string
  /** What makes services of programs that are none, on Windows. */
  readonly shawl: string
  readonly images: Readonly<Record<string, string>>
}
