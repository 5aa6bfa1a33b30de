import type { Cluster } from '../spec/cluster.ts'

/** Everything that the desired addons are computed from. */
export interface AddonInput {
  readonly cluster: Cluster
  /** Pinned image references by name: coredns, metrics-server, traefik, local-path-provisioner, busybox. */
  readonly images: Readonly<Record<string, string>>
  /**
   * Contents of the files and URLs that user addons name, by the name used in cluster.yml. Files of a
   * directory are keyed by `directory/file`.
   */
  readonly sources: ReadonlyMap<string, string>
  /**
   * Serving certificate of metrics-server, with the CA that the API server trusts. Undefined where nothing is
   * applied, for example when images are listed.
   */
  readonly metricsCertificate: MetricsCertificate | undefined
  /** DNS resolvers of each Linux host whose facts are known. */
  readonly resolvers: readonly (readonly string[])[]
}

/** All fields are PEM. */
export interface MetricsCertificate {
  readonly ca: string
  readonly certificate: string
  readonly privateKey: string
}
