import { z } from 'zod'
import { imageDigest } from '../../contract/image-reference.ts'

const digest = z.string().regex(imageDigest)

const descriptor = z.object({ mediaType: z.string(), digest, size: z.int().min(0) })
/** Media type, digest and size of a blob. */
export type Descriptor = z.infer<typeof descriptor>

/** Platform of an image. Windows images also have the Windows version: 10.0.20348.2700. */
const platform = z.object({
  os: z.string(),
  architecture: z.string(),
  'os.version': z.string().optional(),
})

/** An image index: one image for each platform under one name. */
const index = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  manifests: z.array(descriptor.extend({ platform: platform.optional() })),
})

const image = z.object({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  config: descriptor,
  layers: z.array(descriptor),
})

export type ImageManifestContent =
  | {
      readonly kind: 'index'
      readonly mediaType: string
      readonly manifests: z.infer<typeof index>['manifests']
    }
  | {
      readonly kind: 'image'
      readonly mediaType: string
      readonly config: Descriptor
      readonly layers: readonly Descriptor[]
    }

/**
 * Parses an image index or manifest in OCI or Docker format, which differ only in media types. Returns
 * undefined for other content.
 */
export function parseImageManifest(bytes: Uint8Array): ImageManifestContent | undefined {
  const value = jsonIn(bytes)
  const parsedIndex = index.safeParse(value)
  if (parsedIndex.success) {
    const { mediaType = 'application/vnd.oci.image.index.v1+json', manifests } = parsedIndex.data
    return { kind: 'index', mediaType, manifests }
  }
  const one = image.safeParse(value)
  if (!one.success) return undefined
  const { mediaType = 'application/vnd.oci.image.manifest.v1+json', config, layers } = one.data
  return { kind: 'image', mediaType, config, layers }
}

/**
 * Returns the Windows builds that an index lists. Returns undefined if they are unknown: for a single image,
 * or if a Windows entry has no version.
 */
export function windowsBuilds(content: ImageManifestContent): number[] | undefined {
  if (content.kind !== 'index') return undefined
  const versions = content.manifests
    .filter((one) => one.platform?.os === 'windows')
    .map((one) => /^10\.0\.(\d+)/.exec(one.platform?.['os.version'] ?? '')?.[1])
  const builds = versions.filter((build) => build !== undefined).map(Number)
  return builds.length < versions.length ? undefined : [...new Set(builds)].toSorted((a, b) => a - b)
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}
