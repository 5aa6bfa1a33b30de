import { keptNames, parseImage } from '../contract/image-reference.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { blobPath, type BundledImage, type ImageKind, type Member } from './manifest.ts'
import type { OpenBundle } from './open.ts'
import { tarEnd, tarFile, tarSpace } from './tar.ts'
import { framed } from './write.ts'

/** An image as runtimes take it in: a layout of OCI in a tar archive. */
export interface ImageArchive {
  readonly size: number
  /** Fails before its end when something in the bundle is not what it should be. */
  readonly bytes: () => AsyncIterable<Uint8Array>
}

const layout = Buffer.from('{"imageLayoutVersion":"1.0.0"}')

/** All that a host of this kind needs of an image, under every name by which it is looked for. */
export function imageArchive(bundle: OpenBundle, image: BundledImage, kind: ImageKind): ImageArchive {
  const blobs = membersOf(bundle, image, kind)
  const index = indexOf(image)
  const files = [layout, index]
  const size = [...files.map(({ length }) => length), ...blobs.map((blob) => blob.size)]
    .map(tarSpace)
    .reduce((sum, space) => sum + space, tarEnd.length)
  return {
    size,
    async *bytes() {
      yield* tarFile('oci-layout', layout)
      yield* tarFile('index.json', index)
      for (const blob of blobs) yield* framed(blob, bundle.content(blob))
      yield tarEnd
    },
  }
}

function membersOf(
  { manifest }: OpenBundle,
  { reference, blobs }: BundledImage,
  kind: ImageKind,
): readonly Member[] {
  const members = new Map(manifest.members.map((member) => [member.path, member]))
  const found = (blobs[kind] ?? []).map((digest) => members.get(blobPath(digest)))
  const whole = found.filter((member) => member !== undefined)
  if (whole.length > 0 && whole.length === found.length) return whole
  throw new HyperkubeError('BUNDLE_LACKS', `the bundle has no ${reference} for ${kind}`, {
    hint: 'make it anew where there is a way out: hyperkube bundle create',
  })
}

function indexOf({ reference, mediaType, size }: BundledImage): Buffer {
  const digest = parseImage(reference)?.digest
  const manifests = keptNames(reference).map((name) => ({
    mediaType,
    digest,
    size,
    annotations: { 'io.containerd.image.name': name },
  }))
  return Buffer.from(JSON.stringify({ schemaVersion: 2, manifests }))
}
