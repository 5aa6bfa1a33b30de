import { expect, test } from 'vitest'
import { type ImageReference, parseImage } from '../../contract/image-reference.ts'
import { formatError as inWords } from '../../kit/errors.ts'
import { readAllText } from '../follow-redirects.ts'
import { remoteRegistry } from './registry.ts'
import { fakeBlobDigest, fakeImage, fakeRegistries, fakeRegistryPage } from './testing/fake-registry.ts'
import { type FakePage, fakeRegistryTransport, type RequestHeaders } from './testing/fake-transport.ts'
import { retryingTransport } from '../transport.ts'

const { signal } = new AbortController()
const name = 'registry.example/a/pause:3.10'
const pause = fakeImage('pause', ['amd64', 'arm64'])
const image = reference(name)
const noMirror = (): readonly string[] => []

function reference(text: string): ImageReference {
  const parsed = parseImage(text)
  if (parsed === undefined) throw new Error(text)
  return parsed
}

/**
 * Builds a fake registry transport that records requested URLs. `other` replaces the response of some URLs.
 */
function fakeSites(
  other: (url: string, headers: RequestHeaders) => FakePage | undefined | 'unreachable' = () => undefined,
) {
  const requested: string[] = []
  const transport = fakeRegistryTransport((url, headers) => {
    requested.push(url)
    const page = other(url, headers)
    return page === 'unreachable' ? undefined : (page ?? fakeRegistryPage({ [name]: pause }, url, headers))
  })
  return { requested, transport }
}

test('a manifest is found by tag or digest, and its digest is computed from its bytes', async () => {
  const registry = remoteRegistry(fakeRegistries({ [name]: pause }), noMirror)
  const found = await registry.manifest(image, signal)
  expect(found).toMatchObject({ digest: pause.digest, bytes: pause.manifest, content: { kind: 'index' } })
  expect((await registry.manifest({ ...image, digest: found.digest }, signal)).digest).toBe(found.digest)
})

test('a blob is returned unchanged', async () => {
  const registry = remoteRegistry(fakeRegistries({ [name]: pause }), noMirror)
  const [[digest, bytes] = ['', Buffer.of()]] = pause.blobs
  expect(await readAllText(await registry.blob(image, digest, signal), '', 1000)).toBe(bytes.toString())
})

test('mirrors are tried in order with the containerd ns parameter, then the registry itself', async () => {
  const { requested, transport } = fakeSites((url) =>
    url.startsWith('http://two') ? undefined : 'unreachable',
  )
  const registry = remoteRegistry(transport, () => ['https://one.example/base/', 'http://two.example'])
  expect((await registry.manifest(image, signal)).digest).toBe(pause.digest)
  expect(requested).toEqual([
    'https://one.example/base/v2/a/pause/manifests/3.10?ns=registry.example',
    'http://two.example/v2/a/pause/manifests/3.10?ns=registry.example',
  ])
  const last = fakeSites((url) => (url.includes('ns=') ? { status: 404 } : undefined))
  await remoteRegistry(last.transport, () => ['https://one.example']).manifest(image, signal)
  expect(last.requested.at(-1)).toBe('https://registry.example/v2/a/pause/manifests/3.10')
})

test('the error lists every registry and mirror that was tried', async () => {
  const { transport } = fakeSites((url) => (url.includes('one') ? 'unreachable' : { status: 404 }))
  const error: unknown = await remoteRegistry(transport, () => ['https://one.example'])
    .manifest(image, signal)
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'IMAGE_NOT_FOUND' })
  expect(inWords(error)).toMatchInlineSnapshot(`
    "neither registry.example nor its mirrors provide a/pause: 2 tried
      cannot read https://one.example/v2/a/pause/manifests/3.10?ns=registry.example: no server is there
      https://registry.example/v2/a/pause/manifests/3.10 returned status 404"
  `)
})

test('images of docker.io are requested from registry-1.docker.io', async () => {
  const { requested, transport } = fakeSites(() => ({ status: 404 }))
  const missing = remoteRegistry(transport, noMirror).manifest(
    reference('docker.io/library/busybox:1'),
    signal,
  )
  await expect(missing).rejects.toMatchObject({ code: 'FETCH_NOT_FOUND' })
  expect(requested).toEqual(['https://registry-1.docker.io/v2/library/busybox/manifests/1'])
})

test('one anonymous token is requested per repository', async () => {
  const realm = 'https://auth.example/token'
  const scope = 'repository:a/pause:pull'
  const { requested, transport } = fakeSites((url, headers) => {
    if (url.startsWith(realm)) return { body: JSON.stringify({ access_token: 'let me in' }) }
    if (headers['authorization'] === 'Bearer let me in') return undefined
    const challenge = `Bearer realm="${realm}",service="registry.example",scope="${scope}"`
    return { status: 401, headers: { 'www-authenticate': challenge } }
  })
  const registry = remoteRegistry(transport, noMirror)
  await registry.manifest(image, signal)
  await registry.manifest(image, signal)
  const tokens = requested.filter((url) => url.startsWith(realm))
  expect(tokens).toHaveLength(1)
  expect(Object.fromEntries(new URL(tokens[0] ?? '').searchParams)).toEqual({
    service: 'registry.example',
    scope,
  })
})

test('a token is sent only to the host that requested it', async () => {
  const authorizations = new Map<string, string | undefined>()
  const { transport } = fakeSites((url, headers) => {
    const { host } = new URL(url)
    authorizations.set(host, headers['authorization'])
    if (host === 'auth.example') return { body: '{"token":"t"}' }
    if (host === 'cdn.example') return { body: pause.manifest }
    if (headers['authorization'] === undefined) {
      return { status: 401, headers: { 'www-authenticate': 'Bearer realm="https://auth.example/"' } }
    }
    return { status: 307, headers: { location: 'https://cdn.example/x' } }
  })
  await remoteRegistry(transport, noMirror).manifest(image, signal)
  expect(Object.fromEntries(authorizations)).toEqual({
    'registry.example': 'Bearer t',
    'auth.example': undefined,
    'cdn.example': undefined,
  })
})

const login = { host: 'registry.example', username: 'puller', password: 'pässword', secret: 'puller' }
const basic = `Basic ${Buffer.from('puller:pässword').toString('base64')}`

test('a login is sent as Basic authorization to its own server only', async () => {
  const authorizations = new Map<string, string | undefined>()
  const { transport } = fakeSites((url, headers) => {
    const { host } = new URL(url)
    authorizations.set(host, headers['authorization'])
    if (host === 'cdn.example') return { body: pause.manifest }
    if (headers['authorization'] !== basic)
      return { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }
    return { status: 307, headers: { location: 'https://cdn.example/x' } }
  })
  const registry = remoteRegistry(transport, () => ['https://mirror.example'], [login])
  expect((await registry.manifest(image, signal)).digest).toBe(pause.digest)
  expect(Object.fromEntries(authorizations)).toEqual({
    'mirror.example': undefined,
    'registry.example': basic,
    'cdn.example': undefined,
  })
})

test('a login is sent to the token service, and a refused login names the secret', async () => {
  const refuse = (password: string) =>
    fakeSites((url, headers) => {
      if (url.startsWith('https://auth.example'))
        return headers['authorization'] === basic && password === login.password
          ? { body: '{"token":"t"}' }
          : { status: 401 }
      if (headers['authorization'] === 'Bearer t') return undefined
      return { status: 401, headers: { 'www-authenticate': 'Bearer realm="https://auth.example/"' } }
    })
  const found = await remoteRegistry(refuse(login.password).transport, noMirror, [login]).manifest(
    image,
    signal,
  )
  expect(found.digest).toBe(pause.digest)
  const wrong = remoteRegistry(refuse('other').transport, noMirror, [login]).manifest(image, signal)
  await expect(wrong).rejects.toMatchObject({
    code: 'REGISTRY_LOGIN_REFUSED',
    message: 'registry.example refuses the login of puller (401)',
    hint: expect.stringContaining('hyperkube secret set puller'),
  })
  const refused = fakeSites(() => ({ status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }))
  await expect(
    remoteRegistry(refused.transport, noMirror, [login]).manifest(image, signal),
  ).rejects.toMatchObject({ code: 'REGISTRY_LOGIN_REFUSED' })
})

test.each([
  ['Basic realm="x"', 'it requires a login'],
  ['Bearer realm="http://auth.example"', 'without encryption'],
  ['Bearer realm="https://empty.example"', 'returned no token'],
])('the challenge %s gives no token', async (challenge, why) => {
  const { transport } = fakeSites((url) =>
    url.startsWith('https://empty')
      ? { body: '{}' }
      : { status: 401, headers: { 'www-authenticate': challenge } },
  )
  await expect(remoteRegistry(transport, noMirror).manifest(image, signal)).rejects.toMatchObject({
    code: 'REGISTRY_NO_TOKEN',
    message: expect.stringContaining(why),
  })
})

test('bytes that match neither the requested nor the announced digest are refused', async () => {
  const other = fakeBlobDigest(Buffer.from('other'))
  const lied = fakeSites(() => ({ body: pause.manifest, headers: { 'docker-content-digest': other } }))
  await expect(remoteRegistry(lied.transport, noMirror).manifest(image, signal)).rejects.toMatchObject({
    code: 'REGISTRY_WRONG_DIGEST',
  })
  const swapped = fakeSites(() => ({ body: pause.manifest }))
  await expect(
    remoteRegistry(swapped.transport, noMirror).manifest({ ...image, digest: other }, signal),
  ).rejects.toMatchObject({ code: 'REGISTRY_WRONG_DIGEST' })
})

test.each(['<html>sign in</html>', '{}', '{"schemaVersion":1}'])(
  'the response %s is refused as a manifest',
  async (body) => {
    const { transport } = fakeSites(() => ({ body }))
    await expect(remoteRegistry(transport, noMirror).manifest(image, signal)).rejects.toMatchObject({
      code: 'REGISTRY_NOT_A_MANIFEST',
    })
  },
)

test('transient registry failures are retried', async () => {
  const responses: (FakePage | 'unreachable' | undefined)[] = [{ status: 503 }, 'unreachable', undefined]
  const { transport, requested } = fakeSites(() => responses.shift())
  const registry = remoteRegistry(
    retryingTransport(transport, async () => undefined),
    noMirror,
  )
  expect((await registry.manifest(image, signal)).digest).toBe(pause.digest)
  expect(requested).toHaveLength(3)
})
