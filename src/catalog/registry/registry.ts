import { createHash } from 'node:crypto'
import type { ImageReference } from '../../contract/image-reference.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type ImageManifestContent, parseImageManifest } from './image-manifest.ts'
import { requireAccepted, type Authorization, followRedirects } from './follow-redirects.ts'
import { fetchAnonymousToken } from './token.ts'
import type { RegistryTransport } from './transport.ts'
import { readAllBytes } from './read-all.ts'

/** An image index, or the manifest of one image. */
export interface ImageManifest {
  /** Digest of `bytes`. */
  readonly digest: string
  readonly bytes: Buffer
  readonly content: ImageManifestContent
}

/** Looks up and reads images. */
export interface Registry {
  /** By the digest of the reference, or by its tag if it has no digest. */
  manifest(image: ImageReference, signal: AbortSignal): Promise<ImageManifest>
  /** The bytes of a blob, unverified: the caller must check their digest. */
  blob(image: ImageReference, digest: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

const accept = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')

/** Registries refuse larger manifests. */
const largestManifest = 4 << 20

/** Registries whose API is on another host than the one in image names. */
const apiHosts: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' }

/** Base URLs of mirrors of a registry, best first. `registry` is its name in image names. */
export type RegistryMirrors = (registry: string) => readonly string[]

/** Tries the mirrors first and then the registry, with the same requests that containerd makes on a host. */
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

/** A proxy that requires a login answers with a page. Its digest must not be pinned. */
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
