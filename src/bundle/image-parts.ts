import type { Manifest, Registry } from '../catalog/registry/registry.ts'
import type { Arch } from '../catalog/artifact-target.ts'
import { type ImageReference, parseImage } from '../contract/image-reference.ts'
import { windowsBuildVersion, windowsServers } from '../contract/windows-build.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { BundledImage, ImageKind } from './manifest.ts'

/** One blob of an image. */
export interface ImagePart {
  readonly digest: string
  /** The image that it was first found in. */
  readonly of: string
  readonly open: (registry: Registry, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>
}

/**
 * All that hosts of some kinds need of an image: what describes it as it is, and of the rest what is theirs. One that is
 * not made for Windows is not for nodes of Windows.
 */
export async function imageParts(
  reference: string,
  kinds: readonly ImageKind[],
  registry: Registry,
  signal: AbortSignal,
): Promise<{ readonly bundled: BundledImage; readonly parts: readonly ImagePart[] }> {
  const image = parseImage(reference)
  if (image?.digest === undefined) throw notPinned(reference)
  const top = await registry.manifest(image, signal)
  const parts: ImagePart[] = []
  const blobs: BundledImage['blobs'] = {}
  for (const kind of kinds) {
    const chain =
      kind === 'windows'
        ? await windowsChain(image, top, registry, signal)
        : await chainFor(reference, image, top, kind, registry, signal)
    if (chain.length === 0) continue
    const rest = chain.flatMap(({ content }) =>
      content.kind === 'image' ? [content.config, ...content.layers].map(({ digest }) => digest) : [],
    )
    parts.push(
      ...chain.map(({ digest, bytes }) => ({ digest, of: reference, open: async () => once(bytes) })),
      ...rest.map((digest): ImagePart => ({
        digest,
        of: reference,
        open: async (from, stop) => from.blob(image, digest, stop),
      })),
    )
    // An image may have the same layer twice.
    blobs[kind] = [...new Set([...chain.map(({ digest }) => digest), ...rest])]
  }
  const bundled = { reference, mediaType: top.content.mediaType, size: top.bytes.length, blobs }
  return { bundled, parts }
}

/** From what the reference names down to the manifest for an architecture. What is for one alone is for all. */
async function chainFor(
  reference: string,
  image: ImageReference,
  top: Manifest,
  arch: Arch,
  registry: Registry,
  signal: AbortSignal,
): Promise<readonly Manifest[]> {
  if (top.content.kind === 'image') return [top]
  const own = top.content.manifests.find(
    ({ platform }) => platform?.os === 'linux' && platform.architecture === arch,
  )
  if (own === undefined) {
    throw new HyperkubeError('IMAGE_NO_PLATFORM', `${reference} is not made for linux/${arch}`, {
      hint: 'a bundle is for the architectures in cluster.lock: hyperkube lock --arch names them',
    })
  }
  return [top, await registry.manifest({ ...image, digest: own.digest }, signal)]
}

/** With the manifests of all builds that a host may be of: which one it is nobody knows yet. */
async function windowsChain(
  image: ImageReference,
  top: Manifest,
  registry: Registry,
  signal: AbortSignal,
): Promise<readonly Manifest[]> {
  if (top.content.kind === 'image') return []
  const builds = new Set(windowsServers.map(({ build }) => windowsBuildVersion(build)))
  const own = top.content.manifests.filter(({ platform }) => {
    const version = platform?.['os.version']?.split('.').slice(0, 3).join('.')
    return platform?.os === 'windows' && (version === undefined || builds.has(version))
  })
  const each = await Promise.all(
    own.map(async ({ digest }) => registry.manifest({ ...image, digest }, signal)),
  )
  return each.length === 0 ? [] : [top, ...each]
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}

function notPinned(reference: string): HyperkubeError {
  return new HyperkubeError('BUNDLE_NOT_PINNED', `the lock names ${reference} without its digest`, {
    hint: 'hyperkube lock looks it up',
  })
}
