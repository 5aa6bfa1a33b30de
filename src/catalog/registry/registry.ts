import { createHash } from 'node:crypto'
import type { ImageReference } from '../../contract/image-reference.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type ImageManifestContent, parseImageManifest } from './image-manifest.ts'
import { requireAccepted, type Authorization, followRedirects } from './follow-redirects.ts'
import { fetchAnonymousToken } from './token.ts'
import type { RegistryTransport } from './transport.ts'
import { readAllBytes } from './read-all.ts'

/** An image index, or the manifest of a single image. */
export interface ImageManifest {
  /** SHA-256 digest of `bytes`. */
  readonly digest: string
  readonly bytes: Buffer
  readonly content: ImageManifestContent
}

/** Reads manifests and blobs of images. */
export interface Registry {
  /** Returns the manifest with the digest in the reference, or with its tag if there is no digest. */
  manifest(image: ImageReference, signal: AbortSignal): Promise<ImageManifest>
  /** Streams a blob. The caller must verify its digest. */
  blob(image: ImageReference, digest: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

const accept = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')

/** Maximum size of a manifest in bytes. Registries do not accept larger manifests. */
const largestManifest = 4 << 20

/** API host of registries whose API is not on the host that image names contain. */
const apiHosts: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' }

/**
 * Returns the base URLs of a registry's mirrors, preferred one first. `registry` is the host in image names.
 */
export type RegistryMirrors = (registry: string) => readonly string[]

/**
 * Creates a registry client that tries the mirrors before the registry itself, with the same requests as
 * containerd.
 */
export function remoteRegistry(transport: RegistryTransport, mirrors: RegistryMirrors): Registry {
  const tokens = new Map<string, Authorization>()

  const request = async (url: string, scope: string, signal: AbortSignal) => {
    const first = await followRedirects(transport, url, { accept, authorization: tokens.get(scope) }, signal)
    if (first.response.status !== 401) return first.response
    await first.response.cancel()
    const token = await fetchAnonymousToken(
      transport,
      first.response.header('www-authenticate'),
      first.url,
      signal,
    )
    const authorization = { host: new URL(first.url).host, value: `Bearer ${token}` }
    tokens.set(scope, authorization)
    return (await followRedirects(transport, url, { accept, authorization }, signal)).response
  }

  const tryEach = async <T>(
    image: ImageReference,
    path: string,
    signal: AbortSignal,
    use: (
      body: AsyncIterable<Uint8Array>,
      url: string,
      header: (name: string) => string | undefined,
    ) => Promise<T>,
  ): Promise<T> => {
    const failures: unknown[] = []
    for (const url of buildUrls(image, path, mirrors)) {
      try {
        const response = await request(url, `${new URL(url).origin} ${image.repository}`, signal)
        return await use(await requireAccepted(response, url), url, response.header)
      } catch (error) {
        signal.throwIfAborted()
        failures.push(error)
      }
    }
    throw failures.length === 1 ? failures[0] : notFound(image, failures)
  }

  return {
    async manifest(image, signal) {
      const reference = image.digest ?? image.tag ?? 'latest'
      return tryEach(image, `manifests/${reference}`, signal, async (body, url, header) => {
        const bytes = await readAllBytes(body, url, largestManifest)
        const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
        const expectedDigest = [image.digest, header('docker-content-digest')].find(
          (one) => one !== undefined && one.startsWith('sha256:') && one !== digest,
        )
        if (expectedDigest !== undefined) throw wrongDigest(url, expectedDigest, digest)
        const content = parseImageManifest(bytes)
        if (content === undefined) throw notAManifest(url)
        return { digest, bytes, content }
      })
    },
    async blob(image, digest, signal) {
      return tryEach(image, `blobs/${digest}`, signal, async (body) => body)
    },
  }
}

function buildUrls(
  { registry, repository }: ImageReference,
  path: string,
  mirrors: RegistryMirrors,
): string[] {
  const ownUrl = `https://${apiHosts[registry] ?? registry}/v2/${repository}/${path}`
  const mirrorUrls = mirrors(registry).map(
    (base) => `${base.replace(/\/+$/, '')}/v2/${repository}/${path}?ns=${encodeURIComponent(registry)}`,
  )
  return [...mirrorUrls, ownUrl]
}

/** Builds the error for a response that is not a manifest, for example the login page of a proxy. */
function notAManifest(url: string): HyperkubeError {
  return new HyperkubeError(
    'REGISTRY_NOT_A_MANIFEST',
    `${url} answered with something that describes no image`,
    {
      hint: `look what it is: curl -fL '${url}'`,
    },
  )
}

function wrongDigest(url: string, expectedDigest: string, found: string): HyperkubeError {
  return new HyperkubeError('REGISTRY_WRONG_DIGEST', `${url} should be ${expectedDigest}, and is ${found}`, {
    hint: 'a mirror or proxy on the way changes it: check them',
  })
}

function notFound({ registry, repository }: ImageReference, failures: readonly unknown[]): HyperkubeError {
  const message = `neither ${registry} nor a mirror of it gives ${repository}`
  return new HyperkubeError('IMAGE_NOT_FOUND', message, {
    cause: new AggregateError(failures, `${failures.length} were asked`),
  })
}
