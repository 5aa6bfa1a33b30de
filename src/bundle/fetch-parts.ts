import { mapAtMost } from '../catalog/map-with-concurrency.ts'
import type { Lock, LockedArtifact } from '../catalog/lock.ts'
import { bytesAt } from '../catalog/registry/follow-redirects.ts'
import type { Registry } from '../catalog/registry/registry.ts'
import type { Web } from '../catalog/registry/transport.ts'
import { attempts, type Pause } from '../catalog/retrying-fetcher.ts'
import { locate, type Site } from '../catalog/artifact-source.ts'
import {
  artifactPath,
  blobPath,
  type BundledImage,
  type BundleManifest,
  type ImageKind,
  type Member,
} from './manifest.ts'
import { imageParts, type ImagePart } from './image-parts.ts'
import type { Parts } from './parts.ts'

const atOnce = 4

export interface GatherWish {
  readonly cluster: string
  /** Of all that shall be in the bundle, and of nothing else. */
  readonly lock: Lock
  readonly source: Site
}

export interface GatherSources {
  readonly web: Web
  readonly registry: Registry
  readonly parts: Parts
  /** Is told of what is fetched. */
  readonly tell: (what: string) => void
  readonly pause?: Pause
}

/** Fetches all that belongs into a bundle, and says what is in it then. Fails with all that failed. */
export async function gather(
  { cluster, lock, source }: GatherWish,
  sources: GatherSources,
  signal: AbortSignal,
): Promise<BundleManifest> {
  const { web, registry, parts, tell, pause } = sources
  const fetchOnce = async (sha256: string, what: string, open: () => Promise<AsyncIterable<Uint8Array>>) => {
    const there = await parts.size(sha256)
    if (there !== undefined) return there
    tell(what)
    return attempts(async () => parts.put(sha256, await open(), what), signal, pause)
  }
  const images = await imagesOf(lock, registry, signal)
  const files = lock.artifacts.map((artifact) => ({ artifact, at: locate(artifact.url, source) }))
  const members = new Map<string, Member>()
  const add = (path: string, sha256: string, size: number): void =>
    void members.set(path, { path, sha256, size })
  const work = [
    ...files.map(({ artifact, at }) => async () => {
      const { sha256 } = artifact
      add(
        artifactPath(artifact),
        sha256,
        await fetchOnce(sha256, fileWords(artifact), async () => bytesAt(web, at, signal)),
      )
    }),
    ...distinct(images.flatMap((image) => image.parts)).map((part) => async () => {
      const sha256 = part.digest.replace('sha256:', '')
      const open = async (): Promise<AsyncIterable<Uint8Array>> => part.open(registry, signal)
      add(blobPath(part.digest), sha256, await fetchOnce(sha256, `a part of ${part.of}`, open))
    }),
  ]
  await mapAtMost(atOnce, work, async (one) => one())
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Bundle',
    cluster,
    lock,
    images: images.map(({ bundled }) => bundled),
    members: [...members.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  }
}

function fileWords({ component, version, os, arch }: LockedArtifact): string {
  return `${component} ${version} ${os}/${arch}`
}

/** Images share parts. */
function distinct(all: readonly ImagePart[]): readonly ImagePart[] {
  return [...new Map(all.map((part) => [part.digest, part])).values()]
}

async function imagesOf(
  { images, artifacts }: Lock,
  registry: Registry,
  signal: AbortSignal,
): Promise<readonly { readonly bundled: BundledImage; readonly parts: readonly ImagePart[] }[]> {
  const kinds = new Set(artifacts.map(({ os, arch }): ImageKind => (os === 'windows' ? 'windows' : arch)))
  return mapAtMost(atOnce, Object.values(images).toSorted(), async (reference) =>
    imageParts(reference, [...kinds].toSorted(), registry, signal),
  )
}
