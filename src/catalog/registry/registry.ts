import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type ImageReference, registryApiHost } from '../../contract/image-reference.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import {
  type Authorization,
  followRedirects,
  readAllBytes,
  readAllText,
  requireAccepted,
} from '../follow-redirects.ts'
import { type ImageManifestContent, parseImageManifest } from './image-manifest.ts'
import type { HttpTransport } from '../transport.ts'

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

/**
 * Returns the base URLs of a registry's mirrors, preferred one first. `registry` is the host in image names.
 */
export type RegistryMirrors = (registry: string) => readonly string[]

/** Login to one server: a registry or a mirror. */
export interface RegistryServerLogin {
  /** Host of the server's URL, with its port unless it is the default port. */
  readonly host: string
  readonly username: string
  readonly password: string
  /** Name of the secret that holds the password, for messages. */
  readonly secret: string
}

/**
 * Creates a registry client that tries the mirrors before the registry itself, with the same requests as
 * containerd. A login is sent only to its own server, and to the token service that the server names.
 */
export function remoteRegistry(
  transport: HttpTransport,
  mirrors: RegistryMirrors,
  logins: readonly RegistryServerLogin[] = [],
): Registry {
  const tokens = new Map<string, Authorization>()

  const request = async (url: string, scope: string, signal: AbortSignal) => {
    const first = await followRedirects(transport, url, { accept, authorization: tokens.get(scope) }, signal)
    if (first.response.status !== 401) return first.response
    await first.response.cancel()
    const { host } = new URL(first.url)
    const login = logins.find((one) => one.host === host)
    const challenge = first.response.header('www-authenticate') ?? ''
    const value =
      login !== undefined && /^basic\b/i.test(challenge)
        ? formatBasic(login)
        : `Bearer ${await fetchToken(transport, challenge, first.url, login, signal)}`
    const authorization = { host, value }
    tokens.set(scope, authorization)
    const { response } = await followRedirects(transport, url, { accept, authorization }, signal)
    if (response.status !== 401 || login === undefined) return response
    await response.cancel()
    throw loginRefused(login)
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
  const ownUrl = `https://${registryApiHost(registry)}/v2/${repository}/${path}`
  const mirrorUrls = mirrors(registry).map(
    (base) => `${base.replace(/\/+$/, '')}/v2/${repository}/${path}?ns=${encodeURIComponent(registry)}`,
  )
  return [...mirrorUrls, ownUrl]
}

/** Builds the error for a response that is not a manifest, for example the login page of a proxy. */
function notAManifest(url: string): HyperkubeError {
  return new HyperkubeError('REGISTRY_NOT_A_MANIFEST', `the response of ${url} is not an image manifest`, {
    hint: `to see the response: curl -fL '${url}'`,
  })
}

function wrongDigest(url: string, expectedDigest: string, found: string): HyperkubeError {
  return new HyperkubeError(
    'REGISTRY_WRONG_DIGEST',
    `${url} has digest ${found}, expected ${expectedDigest}`,
    {
      hint: 'a mirror or proxy changes the content: check spec.registries and the proxy',
    },
  )
}

function notFound({ registry, repository }: ImageReference, failures: readonly unknown[]): HyperkubeError {
  const message = `neither ${registry} nor its mirrors provide ${repository}`
  return new HyperkubeError('IMAGE_NOT_FOUND', message, {
    cause: new AggregateError(failures, `${failures.length} tried`),
  })
}

const tokenResponse = z.object({
  token: z.string().min(1).optional(),
  access_token: z.string().min(1).optional(),
})
const maxTokenBytes = 1 << 16

/** Fetches a token for a login, or for anonymous access. Most registries require one. */
async function fetchToken(
  transport: HttpTransport,
  challenge: string,
  at: string,
  login: RegistryServerLogin | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { realm, ...scope } = readChallenge(challenge)
  const url = realm === undefined ? null : URL.parse(realm)
  if (url === null) throw noToken(at, 'it requires a login')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && at.startsWith('http:'))) {
    throw noToken(at, `it redirects to ${realm} without encryption`)
  }
  for (const name of ['service', 'scope'] as const) {
    const value = scope[name]
    if (value !== undefined) url.searchParams.set(name, value)
  }
  const authorization = login && { host: url.host, value: formatBasic(login) }
  const { response } = await followRedirects(transport, url.href, { authorization }, signal)
  if (response.status === 401 && login !== undefined) {
    await response.cancel()
    throw loginRefused(login)
  }
  const text = await readAllText(await requireAccepted(response, url.href), url.href, maxTokenBytes)
  const { token, access_token: other } = tokenResponse.safeParse(jsonIn(text)).data ?? {}
  const found = token ?? other
  if (found === undefined) throw noToken(at, `${url.host} returned no token`)
  return found
}

/** Parses a WWW-Authenticate header, for example `Bearer realm="https://auth.example/",service="example"`. */
function readChallenge(text: string): Readonly<Record<string, string | undefined>> {
  if (!/^bearer\s/i.test(text)) return {}
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value]) => [name.toLowerCase(), value]),
  )
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function formatBasic({ username, password }: RegistryServerLogin): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

function loginRefused({ host, username, secret }: RegistryServerLogin): HyperkubeError {
  return new HyperkubeError('REGISTRY_LOGIN_REFUSED', `${host} refuses the login of ${username} (401)`, {
    hint: `check username in spec.registries, then store the password: hyperkube secret set ${secret}`,
  })
}

function noToken(at: string, why: string): HyperkubeError {
  return new HyperkubeError('REGISTRY_NO_TOKEN', `${new URL(at).host} allows no anonymous access: ${why}`, {
    hint: 'set username and password of this server in spec.registries, or a mirror that allows anonymous access',
  })
}
