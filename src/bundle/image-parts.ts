import type { Arch } from '../catalog/artifacts.ts'
import type { ImageManifest, Registry } from '../catalog/registry/registry.ts'
import { type ImageReference, parseImage } from '../contract/image-reference.ts'
import { windowsBuildVersion, windowsServers } from '../contract/windows-host.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { BundledImage, ImageKind } from './manifest.ts'

/** One blob of an image. */
export interface ImagePart {
  readonly digest: string
  /** Reference of the first image that contains the blob. */
  readonly image: string
  readonly open: (registry: Registry, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>
}

/**
 * Lists the blobs of an image that hosts of these kinds need: manifests, configs and layers. An image without
 * a Windows variant has no blobs for Windows hosts.
 */
export async function resolveImageParts(
  reference: string,
  kinds: readonly ImageKind[],
  registry: Registry,
  signal: AbortSignal,
): Promise<{ readonly bundled: BundledImage; readonly parts: readonly ImagePart[] }> {
  const image = parseImage(reference)
  if (image?.digest === undefined) throw notPinned(reference)
  const root = await registry.manifest(image, signal)
  const parts: ImagePart[] = []
  const blobs: BundledImage['blobs'] = {}
  for (const kind of kinds) {
    const manifests =
      kind === 'windows'
        ? await windowsManifests(image, root, registry, signal)
        : await linuxManifests(reference, image, root, kind, registry, signal)
    if (manifests.length === 0) continue
    const rest = manifests.flatMap(({ content }) =>
      content.kind === 'image' ? [content.config, ...content.layers].map(({ digest }) => digest) : [],
    )
    parts.push(
      ...manifests.map(({ digest, bytes }) => ({
        digest,
        image: reference,
        open: async () => singleChunk(bytes),
      })),
      ...rest.map((digest): ImagePart => ({
        digest,
        image: reference,
        open: async (from, stop) => from.blob(image, digest, stop),
      })),
    )
    // Duplicates are removed, because an image may contain the same layer twice.
    blobs[kind] = [...new Set([...manifests.map(({ digest }) => digest), ...rest])]
  }
  const bundled = { reference, mediaType: root.content.mediaType, size: root.bytes.length, blobs }
  return { bundled, parts }
}

/**
 * Returns the index of an image and the manifest for an architecture. An image without an index is used for
 * all architectures.
 */
async function linuxManifests(
  reference: string,
  image: ImageReference,
  root: ImageManifest,
  arch: Arch,
  registry: Registry,
  signal: AbortSignal,
): Promise<readonly ImageManifest[]> {
  if (root.content.kind === 'image') return [root]
  const matching = root.content.manifests.find(
    ({ platform }) => platform?.os === 'linux' && platform.architecture === arch,
  )
  if (matching === undefined) {
    throw new HyperkubeError('IMAGE_NO_PLATFORM', `${reference} has no image for linux/${arch}`, {
      hint: 'a bundle contains the architectures of cluster.lock; to change them: hyperkube lock --arch ARCH',
    })
  }
  return [root, await registry.manifest({ ...image, digest: matching.digest }, signal)]
}

/**
 * Returns the manifests for all supported Windows builds, because the builds of the hosts are not known yet.
 */
async function windowsManifests(
  image: ImageReference,
  root: ImageManifest,
  registry: Registry,
  signal: AbortSignal,
): Promise<readonly ImageManifest[]> {
  if (root.content.kind === 'image') return []
  const builds = new Set(windowsServers.map(({ build }) => windowsBuildVersion(build)))
  const matching = root.content.manifests.filter(({ platform }) => {
    const version = platform?.['os.version']?.split('.').slice(0, 3).join('.')
    return platform?.os === 'windows' && (version === undefined || builds.has(version))
  })
  const each = await Promise.all(
    matching.map(async ({ digest }) => registry.manifest({ ...image, digest }, signal)),
  )
  return each.length === 0 ? [] : [root, ...each]
}

async function* singleChunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}

function notPinned(reference: string): HyperkubeError {
  return new HyperkubeError('BUNDLE_NOT_PINNED', `cluster.lock has no digest of ${reference}`, {
    hint: 'add the digest: hyperkube lock',
  })
}
