import { listRuntimeNames, parseImage } from '../contract/image-reference.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { blobPath, type BundledImage, type ImageKind, type BundleMember } from './manifest.ts'
import type { OpenBundle } from './open.ts'
import { tarEnd, tarFile, tarEntrySize } from './tar.ts'
import { tarEntry } from './write.ts'

/** An image as runtimes import it: an OCI image layout in a tar archive. */
export interface ImageArchive {
  readonly size: number
  /** Fails before the end if the content of the bundle does not match its manifest. */
  readonly bytes: () => AsyncIterable<Uint8Array>
}

const layout = Buffer.from('{"imageLayoutVersion":"1.0.0"}')

/** Archives what a host of this kind needs of an image, under every name that runtimes look it up by. */
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
    hint: 'create it again where there is internet access: hyperkube bundle create',
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
