import { z } from 'zod'
import { imageDigest } from '../contract/image-reference.ts'
import { type Format, readVersioned } from '../contract/versioned.ts'
import shippedDocument from './release-digests.json' with { type: 'json' }

const readOn = z.iso.date()

const artifact = z.strictObject({
  url: z.url({ protocol: /^https$/ }),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /**
   * How the digest was found. `checksum-file`: upstream's checksum file and the downloaded file agreed.
   * `download`: upstream publishes no checksum.
   */
  provenance: z.discriminatedUnion('method', [
    z.strictObject({
      method: z.literal('checksum-file'),
      url: z.url({ protocol: /^https$/ }),
      readOn,
    }),
    z.strictObject({ method: z.literal('download'), readOn }),
  ]),
})

const image = z.strictObject({
  /** Reference with a tag and without a digest, as in the catalog. */
  reference: z.string().min(1),
  digest: z.string().regex(imageDigest),
  provenance: z.strictObject({ method: z.literal('registry'), readOn }),
})

const document = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ReleaseDigests'),
  artifacts: z
    .array(artifact)
    .refine((all) => new Set(all.map(({ url }) => url)).size === all.length, 'names a URL twice'),
  images: z
    .array(image)
    .refine(
      (all) => new Set(all.map(({ reference }) => reference)).size === all.length,
      'names an image twice',
    ),
})

/**
 * Digests of catalogued files and images that are part of a hyperkube release. `hyperkube lock` refuses other
 * content, so a mirror or a download site cannot choose what runs.
 */
export type ReleaseDigests = z.infer<typeof document>

export const emptyReleaseDigests: ReleaseDigests = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'ReleaseDigests',
  artifacts: [],
  images: [],
}

export const releaseDigestsFormat: Format<ReleaseDigests> = {
  kind: 'ReleaseDigests',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: document },
  older: [],
}

/** Returns the digests that are part of this release. */
export function readShippedDigests(): ReleaseDigests {
  return readVersioned(releaseDigestsFormat, shippedDocument)
}

/** Formats the document. The same content always gives the same bytes. */
export function formatReleaseDigests({ apiVersion, kind, artifacts, images }: ReleaseDigests): string {
  const sorted = {
    apiVersion,
    kind,
    artifacts: artifacts.toSorted((a, b) => (a.url < b.url ? -1 : 1)),
    images: images.toSorted((a, b) => (a.reference < b.reference ? -1 : 1)),
  }
  return `${JSON.stringify(document.parse(sorted), undefined, 2)}\n`
}

/** Returns the SHA-256 digest of the file at a public URL, if this release has it. */
export function findArtifactDigest({ artifacts }: ReleaseDigests, url: string): string | undefined {
  return artifacts.find((one) => one.url === url)?.sha256
}

/** Returns the digest of an image, if this release has it. */
export function findImageDigest({ images }: ReleaseDigests, reference: string): string | undefined {
  return images.find((one) => one.reference === reference)?.digest
}
