import { type CatalogDocument, expandKnownFlags } from './catalog-document.ts'
import type { KnownFlags } from './known-flags.ts'
import type { KubernetesMinor } from './minor.ts'
import { buildUnknownVersionError, compareVersions, toMinor } from './version.ts'

/** Where a catalog comes from: this release of hyperkube, or a signed file. */
export type CatalogSource =
  | { readonly from: 'release'; readonly serial: number; readonly issued: string }
  | {
      readonly from: 'file'
      readonly serial: number
      readonly issued: string
      /** Key that signed the file. */
      readonly publicKey: string
      /** Digest of the whole file. */
      readonly sha256: string
    }

/** All Kubernetes minors that a cluster may use, and the flags of their programs. */
export interface Catalog {
  readonly source: CatalogSource
  /** Newest first. */
  readonly minors: readonly KubernetesMinor[]
  readonly flags: KnownFlags
}

export function buildCatalog(document: CatalogDocument, source: CatalogSource): Catalog {
  return {
    source,
    minors: document.minors.toSorted((a, b) => compareVersions(b.minor, a.minor)),
    flags: expandKnownFlags(document),
  }
}

/** Versions of all components that belong to a Kubernetes version, without a leading v. */
export type KubernetesRelease = KubernetesMinor['components'] &
  Pick<KubernetesMinor, 'images' | 'flags' | 'apiVersions'> & {
    readonly kubernetes: string
    /** The catalog that names these versions. */
    readonly catalog: CatalogSource
  }

/** Lists one Kubernetes release of each minor, the default patch version, newest first. */
export function listDefaultReleases({ minors, source }: Catalog): readonly KubernetesRelease[] {
  return minors.map((minor) => buildRelease(minor, minor.defaultPatch, source))
}

/** Lists the default patch version of each minor, newest first. */
export function listDefaultVersions({ minors }: Pick<Catalog, 'minors'>): readonly string[] {
  return minors.map(({ defaultPatch }) => defaultPatch)
}

function buildRelease(
  { components, images, flags, apiVersions }: KubernetesMinor,
  kubernetes: string,
  catalog: CatalogSource,
): KubernetesRelease {
  return { kubernetes, ...components, images, flags, apiVersions, catalog }
}

/**
 * Returns the component versions of a Kubernetes version. Every patch version of a known minor is accepted,
 * so that a security patch needs no new catalog. Throws if the minor is unknown.
 */
export function findKubernetesRelease(catalog: Catalog, version: string): KubernetesRelease {
  const found = catalog.minors.find(({ minor }) => minor === toMinor(version))
  if (found !== undefined) return buildRelease(found, version, catalog.source)
  throw buildUnknownVersionError(version, listDefaultVersions(catalog))
}
