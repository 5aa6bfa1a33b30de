import { listRuntimeNames, parseImage } from '../contract/image-reference.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { tarEntry } from './archive.ts'
import { blobPath, type BundledImage, type BundleMember, type ImageKind } from './manifest.ts'
import type { OpenBundle } from './open.ts'
import { tarEnd, tarEntrySize, tarFile } from './tar.ts'

/** An image in the format that container runtimes import: an OCI image layout in a tar archive. */
export interface ImageArchive {
  readonly size: number
  /** Streams the archive. Throws during the stream if the content does not match the bundle's manifest. */
  readonly bytes: () => AsyncIterable<Uint8Array>
}

const layout = Buffer.from('{"imageLayoutVersion":"1.0.0"}')

/**
 * Builds an archive with the parts of an image that hosts of one kind need. It contains every name by which
 * runtimes look up the image.
 */
export function imageArchive(bundle: OpenBundle, image: BundledImage, kind: ImageKind): ImageArchive {
  const blobs = findBlobs(bundle, image, kind)
  const index = buildIndex(image)
  const files = [layout, index]
  const size = [...files.map(({ length }) => length), ...blobs.map((blob) => blob.size)]
    .map(tarEntrySize)
    .reduce((sum, space) => sum + space, tarEnd.length)
  return {
    size,
    async *bytes() {
      yield* tarFile('oci-layout', layout)
      yield* tarFile('index.json', index)
      for (const blob of blobs) yield* tarEntry(blob, bundle.content(blob))
      yield tarEnd
    },
  }
}

function findBlobs(
  { manifest }: OpenBundle,
  { reference, blobs }: BundledImage,
  kind: ImageKind,
): readonly BundleMember[] {
  const members = new Map(manifest.members.map((member) => [member.path, member]))
  const found = (blobs[kind] ?? []).map((digest) => members.get(blobPath(digest)))
  const present = found.filter((member) => member !== undefined)
  if (present.length > 0 && present.length === found.length) return present
  throw new HyperkubeError('BUNDLE_INCOMPLETE', `the bundle has no ${reference} for ${kind}`, {
    hint: 'create the bundle again on a machine with internet access: hyperkube bundle create',
  })
}

function buildIndex({ reference, mediaType, size }: BundledImage): Buffer {
  const digest = parseImage(reference)?.digest
  const manifests = listRuntimeNames(reference).map((name) => ({
    mediaType,
    digest,
    size,
    annotations: { 'io.containerd.image.name': name },
  }))
  return Buffer.from(JSON.stringify({ schemaVersion: 2, manifests }))
}
