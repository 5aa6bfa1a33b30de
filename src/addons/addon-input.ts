import type { Cluster } from '../spec/cluster.ts'

/** What the wished addons follow from. */
export interface AddonInput {
  readonly cluster: Cluster
  /** As they are pinned, by name: coredns, metrics-server, traefik, local-path-provisioner, busybox. */
  readonly images: Readonly<Record<string, string>>
  /**
   * Texts of the files and URLs that the user's own addons name, by the name they are given there; a directory's files
   * by `directory/file`.
   */
  readonly sources: ReadonlyMap<string, string>
  /** What the API asks metrics-server with. None where nothing is put anywhere, as when images are listed. */
  readonly metricsCertificate: MetricsCertificate | undefined
  /** Of each Linux host whose facts are known: whom it asks for names. */
  readonly resolvers: readonly (readonly string[])[]
}

/** In PEM. */
export interface MetricsCertificate {
  readonly authority: string
  readonly certificate: string
  readonly privateKey: string
}
