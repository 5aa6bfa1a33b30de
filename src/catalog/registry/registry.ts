import { createHash } from 'node:crypto'
import type { ImageReference } from '../../contract/image-reference.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type ManifestContent, readManifest } from './image-manifest.ts'
import { accepted, type Authorization, follow } from './follow-redirects.ts'
import { anonymousToken } from './token.ts'
import type { Web } from './transport.ts'
import { wholeBytes } from './read-all.ts'

/** What describes an image: an index of several, or the manifest of one. */
export interface Manifest {
  /** Of its bytes. */
  readonly digest: string
  readonly bytes: Buffer
  readonly content: ManifestContent
}

/** Where images come from, as far as looking them up and reading them goes. */
export interface Registry {
  /** By the digest of the reference, or by its tag where it has none. */
  manifest(image: ImageReference, signal: AbortSignal): Promise<Manifest>
  /** Its bytes, unproven: whoever takes them hashes them. */
  blob(image: ImageReference, digest: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

const accept = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')

/** Registries take no larger one. */
const largestManifest = 4 << 20

/** Its images are named after another host than the one that has them. */
const answeringHosts: Readonly<Record<string, string>> = { 'docker.io': 'registry-1.docker.io' }

/** Addresses that stand in for a registry, best first; `registry` is its name in names of images. */
export type Mirrors = (registry: string) => readonly string[]

/** Asks mirrors first and then the registry itself, with the very requests that containerd makes on a host. */
export function webRegistry(web: Web, mirrors: Mirrors): Registry {
  const tokens = new Map<string, Authorization>()

  const ask = async (url: string, scope: string, signal: AbortSignal) => {
    const known = await follow(web, url, { accept, authorization: tokens.get(scope) }, signal)
    if (known.answer.status !== 401) return known.answer
    await known.answer.leave()
    const token = await anonymousToken(web, known.answer.header('www-authenticate'), known.at, signal)
    const authorization = { host: new URL(known.at).host, value: `Bearer ${token}` }
    tokens.set(scope, authorization)
    return (await follow(web, url, { accept, authorization }, signal)).answer
  }

  const anywhere = async <T>(
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
    for (const url of urlsOf(image, path, mirrors)) {
      try {
        const answer = await ask(url, `${new URL(url).origin} ${image.repository}`, signal)
        return await use(await accepted(answer, url), url, answer.header)
      } catch (error) {
        signal.throwIfAborted()
        failures.push(error)
      }
    }
    throw failures.length === 1 ? failures[0] : nowhere(image, failures)
  }

  return {
    async manifest(image, signal) {
      const wanted = image.digest ?? image.tag ?? 'latest'
      return anywhere(image, `manifests/${wanted}`, signal, async (body, url, header) => {
        const bytes = await wholeBytes(body, url, largestManifest)
        const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
        const said = [image.digest, header('docker-content-digest')].find(
          (one) => one !== undefined && one.startsWith('sha256:') && one !== digest,
        )
        if (said !== undefined) throw wrongDigest(url, said, digest)
        const content = readManifest(bytes)
        if (content === undefined) throw notAManifest(url)
        return { digest, bytes, content }
      })
    },
    async blob(image, digest, signal) {
      return anywhere(image, `blobs/${digest}`, signal, async (body) => body)
    },
  }
}

function urlsOf({ registry, repository }: ImageReference, path: string, mirrors: Mirrors): string[] {
  const own = `https://${answeringHosts[registry] ?? registry}/v2/${repository}/${path}`
  const standIns = mirrors(registry).map(
    (base) => `${base.replace(/\/+$/, '')}/v2/${repository}/${path}?ns=${encodeURIComponent(registry)}`,
  )
  return [...standIns, own]
}

/** A proxy that wants a login answers like this, and what it says must not be pinned. */
function notAManifest(url: string): HyperkubeError {
  return new HyperkubeError(
    'REGISTRY_NOT_A_MANIFEST',
    `${url} answered with something that describes no image`,
    {
      hint: `look what it is: curl -fL '${url}'`,
    },
  )
}

function wrongDigest(url: string, said: string, found: string): HyperkubeError {
  return new HyperkubeError('REGISTRY_WRONG_DIGEST', `${url} should be ${said}, and is ${found}`, {
    hint: 'somebody on the way changes it: look at the mirror or proxy between',
  })
}

function nowhere({ registry, repository }: ImageReference, failures: readonly unknown[]): HyperkubeError {
  const message = `neither ${registry} nor a mirror of it gives ${repository}`
  return new HyperkubeError('IMAGE_NOT_FOUND', message, {
    cause: new AggregateError(failures, `${failures.length} were asked`),
  })
}
