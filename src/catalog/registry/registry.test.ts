import { expect, test } from 'vitest'
import { type ImageReference, parseImage } from '../../contract/image-reference.ts'
import { describe as inWords } from '../../kit/errors.ts'
import { digestOf, fakeImage, fakeRegistries, registryPage } from './testing/fake-registry.ts'
import { type Headers, memoryWeb, type Page } from './testing/fake-transport.ts'
import { webRegistry } from './registry.ts'
import { retryingWeb } from './retrying-transport.ts'
import { wholeText } from './read-all.ts'

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

/** A world in which some addresses answer otherwise than a registry does; and which were asked. */
function world(other: (url: string, headers: Headers) => Page | undefined | 'nobody' = () => undefined) {
  const asked: string[] = []
  const web = memoryWeb((url, headers) => {
    asked.push(url)
    const page = other(url, headers)
    return page === 'nobody' ? undefined : (page ?? registryPage({ [name]: pause }, url, headers))
  })
  return { asked, web }
}

test('a manifest is found by its tag, and its digest is that of the bytes', async () => {
  const registry = webRegistry(fakeRegistries({ [name]: pause }), noMirror)
  const found = await registry.manifest(image, signal)
  expect(found).toMatchObject({ digest: pause.digest, bytes: pause.manifest, content: { kind: 'index' } })
  expect((await registry.manifest({ ...image, digest: found.digest }, signal)).digest).toBe(found.digest)
})

test('a blob comes as it is', async () => {
  const registry = webRegistry(fakeRegistries({ [name]: pause }), noMirror)
  const [[digest, bytes] = ['', Buffer.of()]] = pause.blobs
  expect(await wholeText(await registry.blob(image, digest, signal), '', 1000)).toBe(bytes.toString())
})

test('mirrors are asked first, as containerd asks them, and the registry itself at the end', async () => {
  const { asked, web } = world((url) => (url.startsWith('http://two') ? undefined : 'nobody'))
  const registry = webRegistry(web, () => ['https://one.example/base/', 'http://two.example'])
  expect((await registry.manifest(image, signal)).digest).toBe(pause.digest)
  expect(asked).toEqual([
    'https://one.example/base/v2/a/pause/manifests/3.10?ns=registry.example',
    'http://two.example/v2/a/pause/manifests/3.10?ns=registry.example',
  ])
  const last = world((url) => (url.includes('ns=') ? { status: 404 } : undefined))
  await webRegistry(last.web, () => ['https://one.example']).manifest(image, signal)
  expect(last.asked.at(-1)).toBe('https://registry.example/v2/a/pause/manifests/3.10')
})

test('all who were asked are told when none has it', async () => {
  const { web } = world((url) => (url.includes('one') ? 'nobody' : { status: 404 }))
  const error: unknown = await webRegistry(web, () => ['https://one.example'])
    .manifest(image, signal)
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'IMAGE_NOT_FOUND' })
  expect(inWords(error)).toMatchInlineSnapshot(`
    "neither registry.example nor a mirror of it gives a/pause: 2 were asked
      https://one.example/v2/a/pause/manifests/3.10?ns=registry.example could not be read: nobody is there
      https://registry.example/v2/a/pause/manifests/3.10 answered with status 404"
  `)
})

test('docker.io answers elsewhere than its images are named', async () => {
  const { asked, web } = world(() => ({ status: 404 }))
  const missing = webRegistry(web, noMirror).manifest(reference('docker.io/library/busybox:1'), signal)
  await expect(missing).rejects.toMatchObject({ code: 'FETCH_NOT_FOUND' })
  expect(asked).toEqual(['https://registry-1.docker.io/v2/library/busybox/manifests/1'])
})

test('a registry that wants a token gets an anonymous one, once for each repository', async () => {
  const realm = 'https://auth.example/token'
  const scope = 'repository:a/pause:pull'
  const { asked, web } = world((url, headers) => {
    if (url.startsWith(realm)) return { body: JSON.stringify({ access_token: 'let me in' }) }
    if (headers['authorization'] === 'Bearer let me in') return undefined
    const challenge = `Bearer realm="${realm}",service="registry.example",scope="${scope}"`
    return { status: 401, headers: { 'www-authenticate': challenge } }
  })
  const registry = webRegistry(web, noMirror)
  await registry.manifest(image, signal)
  await registry.manifest(image, signal)
  const tokens = asked.filter((url) => url.startsWith(realm))
  expect(tokens).toHaveLength(1)
  expect(Object.fromEntries(new URL(tokens[0] ?? '').searchParams)).toEqual({
    service: 'registry.example',
    scope,
  })
})

test('a token goes to nobody but the host that asked for it', async () => {
  const seen = new Map<string, string | undefined>()
  const { web } = world((url, headers) => {
    const { host } = new URL(url)
    seen.set(host, headers['authorization'])
    if (host === 'auth.example') return { body: '{"token":"t"}' }
    if (host === 'cdn.example') return { body: pause.manifest }
    if (headers['authorization'] === undefined) {
      return { status: 401, headers: { 'www-authenticate': 'Bearer realm="https://auth.example/"' } }
    }
    return { status: 307, headers: { location: 'https://cdn.example/x' } }
  })
  await webRegistry(web, noMirror).manifest(image, signal)
  expect(Object.fromEntries(seen)).toEqual({
    'registry.example': 'Bearer t',
    'auth.example': undefined,
    'cdn.example': undefined,
  })
})

test.each([
  ['Basic realm="x"', 'it wants a login'],
  ['Bearer realm="http://auth.example"', 'without encryption'],
  ['Bearer realm="https://empty.example"', 'gives none'],
])('%s leads to no token', async (challenge, why) => {
  const { web } = world((url) =>
    url.startsWith('https://empty')
      ? { body: '{}' }
      : { status: 401, headers: { 'www-authenticate': challenge } },
  )
  await expect(webRegistry(web, noMirror).manifest(image, signal)).rejects.toMatchObject({
    code: 'REGISTRY_NO_TOKEN',
    message: expect.stringContaining(why),
  })
})

test('bytes that are not those of the digest are refused, whoever said it', async () => {
  const other = digestOf(Buffer.from('other'))
  const lied = world(() => ({ body: pause.manifest, headers: { 'docker-content-digest': other } }))
  await expect(webRegistry(lied.web, noMirror).manifest(image, signal)).rejects.toMatchObject({
    code: 'REGISTRY_WRONG_DIGEST',
  })
  const swapped = world(() => ({ body: pause.manifest }))
  await expect(
    webRegistry(swapped.web, noMirror).manifest({ ...image, digest: other }, signal),
  ).rejects.toMatchObject({ code: 'REGISTRY_WRONG_DIGEST' })
})

test.each(['<html>sign in</html>', '{}', '{"schemaVersion":1}'])('%s is pinned by nobody', async (body) => {
  const { web } = world(() => ({ body }))
  await expect(webRegistry(web, noMirror).manifest(image, signal)).rejects.toMatchObject({
    code: 'REGISTRY_NOT_A_MANIFEST',
  })
})

test('what fails in passing is tried again', async () => {
  const answers: (Page | 'nobody' | undefined)[] = [{ status: 503 }, 'nobody', undefined]
  const { web, asked } = world(() => answers.shift())
  const registry = webRegistry(
    retryingWeb(web, async () => undefined),
    noMirror,
  )
  expect((await registry.manifest(image, signal)).digest).toBe(pause.digest)
  expect(asked).toHaveLength(3)
})
