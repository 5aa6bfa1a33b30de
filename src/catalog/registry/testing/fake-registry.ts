import { createHash } from 'node:crypto'
import { parseImage } from '../../../contract/image-reference.ts'
import { type RequestHeaders, fakeRegistryTransport, type FakePage } from './fake-transport.ts'
import type { HttpTransport } from '../../transport.ts'

export interface FakeImage {
  /** Digest of the manifest, or of the index if the image has several platforms. */
  readonly digest: string
  readonly blobs: ReadonlyMap<string, Buffer>
  readonly manifest: Buffer
}

export function fakeBlobDigest(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

const types = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
}

/**
 * Builds a small image for tests with these Linux architectures and Windows builds. An image with a single
 * platform has no index.
 */
export function fakeImage(
  name: string,
  arches: readonly string[] = ['amd64'],
  builds: readonly number[] = [],
): FakeImage {
  const blobs = new Map<string, Buffer>()
  const add = (bytes: Buffer, mediaType: string) => {
    blobs.set(fakeBlobDigest(bytes), bytes)
    return { mediaType, digest: fakeBlobDigest(bytes), size: bytes.length }
  }
  const shared = add(Buffer.from(`what all of ${name} have`), types.layer)
  const manifests = arches.map((architecture) => {
    const config = add(Buffer.from(JSON.stringify({ os: 'linux', architecture, name })), types.config)
    const layers = [shared, add(Buffer.from(`the programs of ${name} for ${architecture}`), types.layer)]
    const document = { schemaVersion: 2, mediaType: types.manifest, config, layers }
    return { document, architecture }
  })
  const [only] = manifests
  if (manifests.length === 1 && builds.length === 0 && only !== undefined) {
    const manifest = Buffer.from(JSON.stringify(only.document))
    return { digest: fakeBlobDigest(manifest), blobs, manifest }
  }
  const descriptors = manifests.map(({ document, architecture }) => ({
    ...add(Buffer.from(JSON.stringify(document)), types.manifest),
    platform: { os: 'linux', architecture },
  }))
  const windows = builds.map((build) => {
    const config = add(Buffer.from(JSON.stringify({ os: 'windows', build, name })), types.config)
    const layers = [add(Buffer.from(`the programs of ${name} for Windows ${build}`), types.layer)]
    const document = { schemaVersion: 2, mediaType: types.manifest, config, layers }
    return {
      ...add(Buffer.from(JSON.stringify(document)), types.manifest),
      platform: { os: 'windows', architecture: 'amd64', 'os.version': `10.0.${build}.2700` },
    }
  })
  const unknown = {
    ...shared,
    mediaType: types.manifest,
    platform: { os: 'unknown', architecture: 'unknown' },
  }
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: types.index,
      manifests: [...descriptors, ...windows, unknown],
    }),
  )
  return { digest: fakeBlobDigest(manifest), blobs, manifest }
}

/** Builds a transport for tests that serves these images without a login. The key is the image reference. */
export function fakeRegistries(images: Readonly<Record<string, FakeImage>>): HttpTransport {
  return fakeRegistryTransport((url, headers) => fakeRegistryPage(images, url, headers))
}

export function fakeRegistryPage(
  images: Readonly<Record<string, FakeImage>>,
  url: string,
  headers: RequestHeaders,
): FakePage | undefined {
  const { host, pathname, searchParams } = new URL(url)
  const [, repository = '', kind, reference = ''] =
    /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? []
  const registry = searchParams.get('ns') ?? host.replace('registry-1.docker.io', 'docker.io')
  const found = Object.entries(images).filter(([name]) => {
    const image = parseImage(name)
    return image?.registry === registry && image.repository === repository
  })
  if (found.length === 0) return { status: 404 }
  if (kind === 'blobs') return page(found.flatMap(([, { blobs }]) => blobs.get(reference) ?? [])[0])
  if (headers['accept']?.includes('application/vnd.oci.image.index') !== true) return { status: 406 }
  const named = found.find(
    ([name, { digest }]) => parseImage(name)?.tag === reference || digest === reference,
  )
  const bytes = named?.[1].manifest ?? found.flatMap(([, { blobs }]) => blobs.get(reference) ?? [])[0]
  return page(bytes, bytes && { 'docker-content-digest': fakeBlobDigest(bytes) })
}

function page(body: Buffer | undefined, headers: Readonly<Record<string, string>> = {}): FakePage {
  return body === undefined ? { status: 404 } : { body, headers }
}
