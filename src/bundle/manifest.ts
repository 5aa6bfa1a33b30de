import { z } from 'zod'
import { lockSchema } from '../catalog/lock.ts'
import { imageDigest, parseImage } from '../contract/image-reference.ts'
import type { Format } from '../contract/versioned.ts'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

const imageKind = z.enum(['amd64', 'arm64', 'windows'])
/**
 * A kind of host that needs its own set of image blobs: Linux by architecture, or Windows. Windows hosts
 * select the variant for their build themselves.
 */
export type ImageKind = z.infer<typeof imageKind>

const member = z.strictObject({
  path: z.string().regex(/^[a-z0-9][\w./-]{0,99}$/i),
  sha256,
  size: z.int().min(0),
})
/** Path, digest and size of a file in a bundle. */
export type BundleMember = z.infer<typeof member>

const image = z.strictObject({
  reference: z.string().refine((text) => parseImage(text)?.digest !== undefined, 'must have a digest'),
  /** Media type of the object with the image's digest, which is an index or a manifest. */
  mediaType: z.string().min(1),
  size: z.int().min(0),
  /** Blobs that each kind of host needs, manifests first. */
  blobs: z.partialRecord(imageKind, z.array(z.string().regex(imageDigest)).min(1)),
})
export type BundledImage = z.infer<typeof image>

const manifest = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Bundle'),
  /** Name of the cluster that the bundle was made for. */
  cluster: z.string(),
  /** Lock with the files and images that the bundle contains, and their public URLs. */
  lock: lockSchema,
  images: z.array(image),
  /** All files that follow the manifest and its signature, in archive order. */
  members: z
    .array(member)
    .refine((all) => new Set(all.map(({ path }) => path)).size === all.length, 'names a file twice'),
})
/** Table of contents of a bundle, stored as its first file. */
export type BundleManifest = z.infer<typeof manifest>

export const bundleFormat: Format<BundleManifest> = {
  kind: 'Bundle',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: manifest },
  older: [],
}

export function formatBundleManifest(content: BundleManifest): string {
  return `${JSON.stringify(manifest.parse(content), undefined, 2)}\n`
}

/** Path of an artifact in a bundle. It ends with the published file name. */
export function artifactPath({ os, arch, url }: BundleManifest['lock']['artifacts'][number]): string {
  return `artifacts/${os}-${arch}/${url.slice(url.lastIndexOf('/') + 1)}`
}

/** Path of a chart archive in a bundle. */
export function chartPath(chart: { readonly sha256: string }): string {
  return `charts/${chart.sha256}.tgz`
}

/** Path of the signed catalog in a bundle. */
export const bundledCatalogPath = 'catalog'

/** Path of an image blob in a bundle, the same as in an OCI image layout. */
export function blobPath(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`
}
