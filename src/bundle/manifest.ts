import { z } from 'zod'
import { lockSchema } from '../catalog/lock.ts'
import { imageDigest, parseImage } from '../contract/image-reference.ts'
import type { Format } from '../contract/versioned.ts'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

const imageKind = z.enum(['amd64', 'arm64', 'windows'])
/** Hosts that need the same of an image. Builds of Windows are told apart by the host itself. */
export type ImageKind = z.infer<typeof imageKind>

const member = z.strictObject({
  path: z.string().regex(/^[a-z0-9][\w./-]{0,99}$/i),
  sha256,
  size: z.int().min(0),
})
/** One file of a bundle. */
export type Member = z.infer<typeof member>

const image = z.strictObject({
  reference: z.string().refine((text) => parseImage(text)?.digest !== undefined, 'must have a digest'),
  /** Of what the digest is of: an index of several, or the manifest of one. */
  mediaType: z.string().min(1),
  size: z.int().min(0),
  /** By architecture of a Linux host, or for all Windows hosts: what they need of the image, from what describes it on. */
  blobs: z.partialRecord(imageKind, z.array(z.string().regex(imageDigest)).min(1)),
})
export type BundledImage = z.infer<typeof image>

const manifest = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Bundle'),
  /** The cluster that it was made for. */
  cluster: z.string(),
  /** Which files and images there are, and where each was published. */
  lock: lockSchema,
  images: z.array(image),
  /** All files behind this one and its signature, in their order. */
  members: z
    .array(member)
    .refine((all) => new Set(all.map(({ path }) => path)).size === all.length, 'names a file twice'),
})
/** What is in a bundle. */
export type BundleManifest = z.infer<typeof manifest>

export const bundleFormat: Format<BundleManifest> = {
  kind: 'Bundle',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: manifest },
  older: [],
}

export function manifestText(content: BundleManifest): string {
  return `${JSON.stringify(manifest.parse(content), undefined, 2)}\n`
}

/** Where an artifact is in a bundle: by the name of its file, as people know it. */
export function artifactPath({ os, arch, url }: BundleManifest['lock']['artifacts'][number]): string {
  return `artifacts/${os}-${arch}/${url.slice(url.lastIndexOf('/') + 1)}`
}

/** Where a part of an image is: as in every layout of images. */
export function blobPath(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`
}
