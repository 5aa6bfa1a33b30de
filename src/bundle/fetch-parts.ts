import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { locateArtifact, type NetworkSource } from '../catalog/artifact-source.ts'
import { fetchBytes } from '../catalog/follow-redirects.ts'
import type { Lock, LockedArtifact } from '../catalog/lock.ts'
import type { Registry } from '../catalog/registry/registry.ts'
import { type HttpTransport, withFetchRetries } from '../catalog/transport.ts'
import { mapWithConcurrency } from '../kit/concurrency.ts'
import type { Pause } from '../kit/poll.ts'
import { type ImagePart, resolveImageParts } from './image-parts.ts'
import {
  artifactPath,
  blobPath,
  bundledCatalogPath,
  type BundledImage,
  type BundleManifest,
  type BundleMember,
  chartPath,
  type ImageKind,
} from './manifest.ts'

const maxConcurrency = 4

export interface BundleSpec {
  readonly cluster: string
  /** The files and images that the bundle must contain. */
  readonly lock: Lock
  readonly source: NetworkSource
  /** Signed catalog of the cluster, if it has one. */
  readonly catalog?: string | undefined
}

export interface BundleFetchDeps {
  readonly web: HttpTransport
  readonly registry: Registry
  readonly parts: PartStore
  /** Called with a description of each file before it is fetched. */
  readonly onFetch: (what: string) => void
  readonly pause?: Pause
}

/**
 * Fetches all parts of a bundle and returns its manifest. If parts fail, throws one error with all causes.
 */
export async function fetchBundleParts(
  { cluster, lock, source, catalog }: BundleSpec,
  deps: BundleFetchDeps,
  signal: AbortSignal,
): Promise<BundleManifest> {
  const { web, registry, parts, onFetch, pause } = deps
  const fetchOnce = async (sha256: string, what: string, open: () => Promise<AsyncIterable<Uint8Array>>) => {
    const existingSize = await parts.size(sha256)
    if (existingSize !== undefined) return existingSize
    onFetch(what)
    return withFetchRetries(async () => parts.put(sha256, await open(), what), signal, pause)
  }
  const images = await resolveImages(lock, registry, signal)
  const files = lock.artifacts.map((artifact) => ({ artifact, at: locateArtifact(artifact.url, source) }))
  const members = new Map<string, BundleMember>()
  const add = (path: string, sha256: string, size: number): void =>
    void members.set(path, { path, sha256, size })
  const tasks = [
    ...files.map(({ artifact, at }) => async () => {
      const { sha256 } = artifact
      add(
        artifactPath(artifact),
        sha256,
        await fetchOnce(sha256, formatArtifact(artifact), async () => fetchBytes(web, at, signal)),
      )
    }),
    ...listChartArchives(lock).map(({ addon, url, sha256 }) => async () => {
      const open = async (): Promise<AsyncIterable<Uint8Array>> => fetchBytes(web, url, signal)
      add(chartPath({ sha256 }), sha256, await fetchOnce(sha256, `the chart of addon ${addon}`, open))
    }),
    ...dedupeParts(images.flatMap((image) => image.parts)).map((part) => async () => {
      const sha256 = part.digest.replace('sha256:', '')
      const open = async (): Promise<AsyncIterable<Uint8Array>> => part.open(registry, signal)
      add(blobPath(part.digest), sha256, await fetchOnce(sha256, `a part of ${part.image}`, open))
    }),
  ]
  await mapWithConcurrency(maxConcurrency, tasks, async (one) => one())
  if (catalog !== undefined) {
    const bytes = Buffer.from(catalog)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    add(bundledCatalogPath, sha256, await parts.put(sha256, Readable.from([bytes]), 'the catalog'))
  }
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Bundle',
    cluster,
    lock,
    images: images.map(({ bundled }) => bundled),
    members: [...members.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  }
}

/** Lists the charts at URLs. Other charts are beside cluster.yml, like manifests of addons. */
function listChartArchives({
  charts = {},
}: Lock): readonly { readonly addon: string; readonly url: string; readonly sha256: string }[] {
  return Object.entries(charts).flatMap(([addon, { url, sha256 }]) =>
    url === undefined ? [] : [{ addon, url, sha256 }],
  )
}

function formatArtifact({ component, version, os, arch }: LockedArtifact): string {
  return `${component} ${version} ${os}/${arch}`
}

/** Removes duplicate blobs, because images share blobs. */
function dedupeParts(all: readonly ImagePart[]): readonly ImagePart[] {
  return [...new Map(all.map((part) => [part.digest, part])).values()]
}

async function resolveImages(
  { images, artifacts }: Lock,
  registry: Registry,
  signal: AbortSignal,
): Promise<readonly { readonly bundled: BundledImage; readonly parts: readonly ImagePart[] }[]> {
  const kinds = new Set(artifacts.map(({ os, arch }): ImageKind => (os === 'windows' ? 'windows' : arch)))
  return mapWithConcurrency(maxConcurrency, Object.values(images).toSorted(), async (reference) =>
    resolveImageParts(reference, [...kinds].toSorted(), registry, signal),
  )
}

/**
 * Store for the fetched parts of an unfinished bundle. An interrupted run continues with the parts that are
 * already there.
 */
export interface PartStore {
  /** Size of a part in bytes; undefined if the part is not complete. */
  size(sha256: string): Promise<number | undefined>
  /**
   * Stores a part and returns its size. If the digest does not match, throws and stores nothing. `what`
   * describes the part in messages.
   */
  put(sha256: string, bytes: AsyncIterable<Uint8Array>, what: string): Promise<number>
  content(sha256: string): AsyncIterable<Uint8Array>
  clear(): Promise<void>
}
