import type { Manifest, Registry } from '../catalog/registry/registry.ts'
import type { Arch } from '../catalog/target.ts'
import { type ImageReference, parseImage } from '../contract/image-reference.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { BundledImage } from './manifest.ts'

/** One blob of an image. */
export interface ImagePart {
  readonly digest: string
  /** The image that it was first found in. */
  readonly of: string
  readonly open: (registry: Registry, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>
}

/** All that hosts of some architectures need of an image: what describes it as it is, and of the rest what is theirs. */
export async function imageParts(
  reference: string,
  arches: readonly Arch[],
  registry: Registry,
  signal: AbortSignal,
): Promise<{ readonly bundled: BundledImage; readonly parts: readonly ImagePart[] }> {
  const image = parseImage(reference)
  if (image?.digest === undefined) throw notPinned(reference)
  const top = await registry.manifest(image, signal)
  const parts: ImagePart[] = []
  const blobs: BundledImage['blobs'] = {}
  for (const arch of arches) {
    const chain = await chainFor(reference, image, top, arch, registry, signal)
    const last = chain.at(-1)?.content
    const rest = last?.kind === 'image' ? [last.config, ...last.layers].map(({ digest }) => digest) : []
    parts.push(
      ...chain.map(({ digest, bytes }) => ({ digest, of: reference, open: async () => once(bytes) })),
      ...rest.map((digest): ImagePart => ({
        digest,
        of: reference,
        open: async (from, stop) => from.blob(image, digest, stop),
      })),
    )
    // An image may have the same layer twice.
    blobs[arch] = [...new Set([...chain.map(({ digest }) => digest), ...rest])]
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

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}

function notPinned(reference: string): HyperkubeError {
  return new HyperkubeError('BUNDLE_NOT_PINNED', `the lock names ${reference} without its digest`, {
    hint: 'hyperkube lock looks it up',
  })
}
