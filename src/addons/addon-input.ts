import type { Cluster } from '../spec/cluster.ts'

/** Input for computing the desired addons. */
export interface AddonInput {
  readonly cluster: Cluster
  /** Pinned image references by name: coredns, metrics-server, traefik, local-path-provisioner, busybox. */
  readonly images: Readonly<Record<string, string>>
  /**
   * Contents of the files and URLs that user addons refer to, by the name in cluster.yml. The key of a file
   * in a directory is `directory/file`.
   */
  readonly sources: ReadonlyMap<string, string>
  /**
   * Serving certificate of metrics-server, with the CA that the API server trusts. Undefined if the manifests
   * are not applied, for example when images are listed.
   */
  readonly metricsCertificate: MetricsCertificate | undefined
  /** DNS resolvers of each Linux host with known facts: one list per host. */
  readonly resolvers: readonly (readonly string[])[]
}

/** Serving certificate, its key and its CA, as PEM. */
export interface MetricsCertificate {
  readonly ca: string
  readonly certificate: string
  readonly privateKey: string
}
