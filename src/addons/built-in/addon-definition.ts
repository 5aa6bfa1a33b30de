import type { Manifest } from '../../kube/object.ts'
import type { builtInAddons } from '../../spec/addons.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { RenderedChart } from '../chart/read-chart.ts'

/** An addon that comes with hyperkube. */
export interface AddonDefinition {
  readonly name: (typeof builtInAddons)[number]
  /** Short description of the addon, shown to operators. */
  readonly description: string
  /** Key of the addon's settings in cluster.yml. */
  readonly setting: 'dns' | 'metrics' | 'ingress' | 'storage' | 'loadBalancer'
  /** Names of the addon's images in the catalog. The first image is the main program. */
  readonly images: readonly [string, ...string[]]
  /** Builds the objects of the addon. Returns an empty list if the setting in cluster.yml is `none`. */
  readonly buildManifests: (input: AddonInput) => readonly Manifest[]
}

/** Input for computing the desired addons. */
export interface AddonInput {
  readonly cluster: Cluster
  /** Pinned image references by the names in the catalog, such as coredns. */
  readonly images: Readonly<Record<string, string>>
  /**
   * Contents of the files and URLs that user addons refer to, by the name in cluster.yml. The key of a file
   * in a directory is `directory/file`.
   */
  readonly sources: ReadonlyMap<string, string>
  /** Rendered Helm charts, by the name of the addon. */
  readonly charts: ReadonlyMap<string, RenderedChart>
  /**
   * Serving certificate of metrics-server, with the CA that the API server trusts. Undefined if the manifests
   * are not applied, for example when images are listed.
   */
  readonly metricsCertificate: MetricsCertificate | undefined
  /** DNS resolvers of the Linux hosts that were observed: one list per host. */
  readonly resolvers: readonly (readonly string[])[]
}

/** Serving certificate, its key and its CA, as PEM. */
interface MetricsCertificate {
  readonly ca: string
  readonly certificate: string
  readonly privateKey: string
}

export function findAddonImage({ images }: Pick<AddonInput, 'images'>, name: string): string {
  return images[name] ?? ''
}
