import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { assert, asyncProperty, integer, tuple } from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findKubernetesRelease } from '../catalog/catalog.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'
import { remoteRegistry } from '../catalog/registry/registry.ts'
import { fakeImage, fakeRegistries } from '../catalog/registry/testing/fake-registry.ts'
import { fakeRegistryTransport } from '../catalog/registry/testing/fake-transport.ts'
import { listRuntimeNames, pinDigest } from '../contract/image-reference.ts'
import { streamBundle, verifyBundle } from './archive.ts'
import { bundleDisk } from './disk.ts'
import { fetchBundleParts } from './fetch-parts.ts'
import { imageArchive } from './image-archive.ts'
import { extractLock } from './lock.ts'
import type { BundleManifest } from './manifest.ts'
import { type OpenBundle, openBundle } from './open.ts'
import { formatPublicKey, parsePublicKey } from '../kit/signature.ts'
import {
  bundleImages,
  bundleKeys,
  bundleLock,
  busyboxName,
  bytesAsFile,
  createBundleDirectory,
  kubeletContent,
  pauseName,
  registry,
  web,
} from './testing/fixtures.ts'

const { signal } = new AbortController()
const disk = bundleDisk()
const spec = { cluster: 'lab', lock: bundleLock, source: 'upstream' } as const

let directory: Awaited<ReturnType<typeof createBundleDirectory>>
let whole: Buffer

async function make(file: string): Promise<BundleManifest> {
  const parts = disk.parts(file)
  const manifest = await fetchBundleParts(spec, { web, registry, parts, onFetch: () => undefined }, signal)
  await disk.write(
    file,
    streamBundle(manifest, bundleKeys.privateKey, ({ sha256 }) => parts.content(sha256)),
  )
  await parts.clear()
  return manifest
}

beforeAll(async () => {
  directory = await createBundleDirectory()
  await make(directory.at('lab.bundle'))
  whole = await readFile(directory.at('lab.bundle'))
})
afterAll(async () => directory[Symbol.asyncDispose]())

/** Splits bytes into chunks that do not align with tar blocks or files. */
async function* chunked(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function verified(bytes: Uint8Array, size?: number): Promise<BundleManifest> {
  return verifyBundle(chunked(bytes, size), bundleKeys.publicKey)
}

async function opened(bytes: Uint8Array): Promise<OpenBundle> {
  return openBundle(bytesAsFile(bytes))
}

test('the manifest matches its golden file and is the first file of the bundle', async () => {
  const manifest = await verified(whole)
  await expect(`${JSON.stringify(manifest, undefined, 2)}\n`).toMatchFileSnapshot('testdata/bundle.v1.json')
  expect(whole.subarray(0, 11).toString()).toBe('bundle.json')
})

test('the same content gives the same bytes, and no temporary file remains', async () => {
  await make(directory.at('again.bundle'))
  expect((await readFile(directory.at('again.bundle'))).equals(whole)).toBe(true)
  expect(await readdir(directory.at('.'))).toEqual(['again.bundle', 'lab.bundle'])
})

test('the tar program lists and extracts a bundle', async () => {
  const list = execFileSync('tar', ['-tf', directory.at('lab.bundle')], { encoding: 'utf8' })
    .trim()
    .split('\n')
  expect(list.slice(0, 3)).toEqual(['bundle.json', 'bundle.sig', 'artifacts/linux-amd64/kubelet'])
  const content = execFileSync('tar', ['-xOf', directory.at('lab.bundle'), 'artifacts/linux-amd64/kubelet'])
  expect(content.equals(kubeletContent)).toBe(true)
})

test('a bundle has no image blobs of architectures that the lock does not use', async () => {
  const { members } = await verified(whole)
  const [pause] = Object.values(bundleImages)
  const paths = new Set(members.map(({ path }) => path))
  const foreign = [...(pause?.blobs ?? [])].filter(([, bytes]) => bytes.toString().includes('arm64'))
  expect(foreign.length).toBeGreaterThan(0)
  for (const [digest] of foreign) expect(paths).not.toContain(`blobs/${digest.replace(':', '/')}`)
})

test('a bundle has the charts at URLs, and none of charts beside cluster.yml', async () => {
  const [url, chart] = ['https://charts.example/web-2.0.0.tgz', Buffer.from('a chart')]
  const sha256 = createHash('sha256').update(chart).digest('hex')
  const charts = {
    web: { version: '2.0.0', url, sha256 },
    again: { version: '2.0.0', url, sha256 },
    local: { version: '1.0.0', sha256: 'a'.repeat(64) },
  }
  const sources = {
    web: fakeRegistryTransport((at) => ({ body: at === url ? chart : kubeletContent })),
    registry: remoteRegistry(fakeRegistries(bundleImages), () => []),
    parts: disk.parts(directory.at('charts.bundle')),
    onFetch: () => undefined,
  }
  const manifest = await fetchBundleParts({ ...spec, lock: { ...bundleLock, charts } }, sources, signal)
  const members = manifest.members.filter(({ path }) => path.startsWith('charts/'))
  expect(members).toEqual([{ path: `charts/${sha256}.tgz`, sha256, size: chart.length }])
  const changed = { ...sources, web: fakeRegistryTransport(() => ({ body: kubeletContent })) }
  const other = {
    ...spec,
    lock: { ...bundleLock, charts: { web: { ...charts.web, sha256: 'b'.repeat(64) } } },
  }
  await expect(fetchBundleParts(other, changed, signal)).rejects.toBeInstanceOf(Error)
})

test('a bundle for Windows hosts has their programs and the image layers of every supported Windows build', async () => {
  const [sandbox, program] = [
    fakeImage('pause', ['amd64'], [17_763, 20_348, 26_100]),
    'https://site.example/shawl.zip',
  ]
  const [shawl, both] = [
    Buffer.from('a wrapper'),
    { [pauseName]: sandbox, [busyboxName]: fakeImage('busybox') },
  ]
  const parts = disk.parts(directory.at('windows.bundle'))
  const sha256 = createHash('sha256').update(shawl).digest('hex')
  const shawlArtifact = {
    component: 'shawl',
    version: '1.9.0',
    os: 'windows',
    arch: 'amd64',
    url: program,
    sha256,
  } as const
  const wanted: typeof bundleLock = {
    ...bundleLock,
    artifacts: [...bundleLock.artifacts, { ...shawlArtifact, trust: 'first-download' }],
    images: { ...bundleLock.images, pause: pinDigest(pauseName, sandbox.digest) },
  }
  const sources = {
    web: fakeRegistryTransport((at) => ({ body: at === program ? shawl : kubeletContent })),
    registry: remoteRegistry(fakeRegistries(both), () => []),
    parts,
    onFetch: () => undefined,
  }
  const manifest = await fetchBundleParts({ ...spec, lock: wanted }, sources, signal)
  expect(manifest.members.map(({ path }) => path)).toContain('artifacts/windows-amd64/shawl.zip')
  const blobsOf = (name: string) => manifest.images.find(({ reference }) => reference.startsWith(name))?.blobs
  // A Linux-only image is not included for Windows nodes.
  expect(Object.keys(blobsOf(busyboxName) ?? {})).toEqual(['amd64'])
  const texts = (blobsOf(pauseName)?.windows ?? []).map((digest) =>
    (digest === sandbox.digest ? sandbox.manifest : sandbox.blobs.get(digest))?.toString(),
  )
  const layers = texts.filter((text) => text?.startsWith('the programs of'))
  expect(layers).toEqual([
    'the programs of pause for Windows 20348',
    'the programs of pause for Windows 26100',
  ])
  expect(texts).toHaveLength(7)
  await parts.clear()
})

test('a bundle verifies in chunks of any size', async () => {
  for (const size of [1, 7, 511, 512, 513, whole.length]) {
    expect((await verified(whole, size)).cluster).toBe('lab')
  }
})

test('verification detects a flipped bit at any position', async () => {
  await assert(
    asyncProperty(
      tuple(integer({ min: 0, max: whole.length - 1 }), integer({ min: 0, max: 7 })),
      async ([at, bit]) => {
        const bytes = Buffer.from(whole)
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at)
        await expect(verified(bytes)).rejects.toMatchObject({
          code: expect.stringMatching(/^BUNDLE_(DAMAGED|NOT_TRUSTED)$/),
        })
      },
    ),
    { numRuns: 500 },
  )
})

test('verification detects a truncated bundle and extra data after its end', async () => {
  await assert(
    asyncProperty(integer({ min: 0, max: whole.length - 1 }), async (length) => {
      await expect(verified(whole.subarray(0, length))).rejects.toMatchObject({
        code: expect.stringMatching(/^BUNDLE_(DAMAGED|NOT_TRUSTED)$/),
      })
    }),
    { numRuns: 100 },
  )
  await expect(verified(Buffer.concat([whole, Buffer.alloc(512)]))).rejects.toMatchObject({
    message: expect.stringContaining('extra data after its end'),
  })
})

test('the error for a damaged bundle names the first file that differs', async () => {
  const bytes = Buffer.from(whole)
  bytes.writeUInt8(0, bytes.indexOf('the program kubelet'))
  await expect(verified(bytes)).rejects.toMatchObject({
    code: 'BUNDLE_DAMAGED',
    message: expect.stringContaining('the content of artifacts/linux-amd64/kubelet'),
  })
})

test('a bundle signed with another key is not trusted', async () => {
  const others = generateKeyPairSync('ed25519')
  await expect(verifyBundle(chunked(whole), others.publicKey)).rejects.toMatchObject({
    code: 'BUNDLE_NOT_TRUSTED',
  })
})

test('a public key is formatted as base64 and read back, and invalid text is refused', () => {
  const text = formatPublicKey(bundleKeys.publicKey)
  expect(text).toMatch(/^[\w+/]{43}=$/)
  expect(parsePublicKey(text)?.equals(bundleKeys.publicKey)).toBe(true)
  for (const wrong of ['', 'AAAA', `${text} `, text.slice(1)]) expect(parsePublicKey(wrong)).toBeUndefined()
})

test('a resumed run fetches only the parts that are still missing', async () => {
  const parts = disk.parts(directory.at('cut.bundle'))
  const fetched: string[] = []
  const without = fakeRegistryTransport(() => ({ status: 404 }))
  const sources = { web: without, registry, parts, onFetch: (what: string) => fetched.push(what) }
  await expect(fetchBundleParts(spec, sources, signal)).rejects.toMatchObject({ code: 'FETCH_NOT_FOUND' })
  const before = fetched.length
  expect(before).toBeGreaterThan(1)
  await fetchBundleParts(spec, { ...sources, web }, signal)
  expect(fetched.slice(before)).toEqual(['kubelet 1.37.1 linux/amd64'])
  await parts.clear()
})

test('a part that was changed on the disk is removed, and the next run fetches it again', async () => {
  const file = directory.at('changed.bundle')
  const parts = disk.parts(file)
  const { sha256 = '' } = bundleLock.artifacts[0] ?? {}
  await fetchBundleParts(spec, { web, registry, parts, onFetch: () => undefined }, signal)
  await writeFile(`${file}.parts/${sha256}`, 'the program kubelew')
  await expect(make(file)).rejects.toMatchObject({
    code: 'BUNDLE_WRONG_BYTES',
    message: expect.stringContaining(sha256),
    hint: expect.stringContaining('run the same command again'),
  })
  await make(file)
  expect((await verified(await readFile(file))).cluster).toBe('lab')
})

test('bytes that do not match the digest of the lock are refused and not kept', async () => {
  const parts = disk.parts(directory.at('wrong.bundle'))
  const wrong = fakeRegistryTransport(() => ({ body: 'something else' }))
  const gathering = fetchBundleParts(spec, { web: wrong, registry, parts, onFetch: () => undefined }, signal)
  await expect(gathering).rejects.toMatchObject({ code: 'BUNDLE_WRONG_BYTES' })
  expect(await parts.size(bundleLock.artifacts[0]?.sha256 ?? '')).toBeUndefined()
  await parts.clear()
})

test('an image without a digest in the lock cannot be bundled', async () => {
  const parts = disk.parts(directory.at('none.bundle'))
  const sources = { web, registry, parts, onFetch: () => undefined }
  const plain = { ...bundleLock, images: { pause: pauseName } }
  await expect(fetchBundleParts({ ...spec, lock: plain }, sources, signal)).rejects.toMatchObject({
    code: 'BUNDLE_NOT_PINNED',
  })
})

test('every member of an open bundle can be read in full', async () => {
  const bundle = await opened(whole)
  for (const member of bundle.manifest.members) {
    const chunks: Uint8Array[] = []
    for await (const chunk of bundle.content(member)) chunks.push(chunk)
    expect(Buffer.concat(chunks)).toHaveLength(member.size)
  }
})

test('an image archive has every runtime name of the image and the announced size', async () => {
  const bundle = await opened(whole)
  for (const image of bundle.manifest.images) {
    const archive = imageArchive(bundle, image, 'amd64')
    const chunks: Uint8Array[] = []
    for await (const chunk of archive.bytes()) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    expect(bytes).toHaveLength(archive.size)
    const file = directory.at('image.tar')
    await writeFile(file, bytes)
    const index: unknown = JSON.parse(execFileSync('tar', ['-xOf', file, 'index.json'], { encoding: 'utf8' }))
    const names = listRuntimeNames(image.reference).map((name) => ({
      digest: image.reference.split('@')[1],
      annotations: { 'io.containerd.image.name': name },
    }))
    expect(index).toMatchObject({ schemaVersion: 2, manifests: names })
  }
  const busybox = bundle.manifest.images.find(({ reference }) => reference.startsWith(busyboxName))
  if (busybox === undefined) throw new Error('no busybox')
  expect(() => imageArchive(bundle, busybox, 'arm64')).toThrow(
    expect.objectContaining({ code: 'BUNDLE_INCOMPLETE' }),
  )
})

test('reading an image archive with damaged bytes fails', async () => {
  const bytes = Buffer.from(whole)
  const layer = bytes.indexOf('the programs of busybox')
  bytes.writeUInt8(0, layer)
  const bundle = await opened(bytes)
  const [busybox] = bundle.manifest.images
  if (busybox === undefined) throw new Error('no busybox')
  const reading = (async () => {
    for await (const _ of imageArchive(bundle, busybox, 'amd64').bytes());
  })()
  await expect(reading).rejects.toMatchObject({ code: 'BUNDLE_DAMAGED' })
})

test('a lock is extracted from the bundle, and another Kubernetes version is refused', async () => {
  const { manifest } = await opened(whole)
  const release = {
    ...findKubernetesRelease(shippedCatalog, '1.37.1'),
    images: { pause: pauseName, busybox: busyboxName },
  }
  expect(extractLock(manifest, { release, targets: [], images: { pause: pauseName } }).images).toEqual({
    pause: bundleLock.images['pause'],
  })
  const other = { ...manifest, lock: { ...bundleLock, kubernetes: '1.36.4' } }
  expect(() => extractLock(other, { release, targets: [], images: {} })).toThrow(
    expect.objectContaining({
      code: 'BUNDLE_INCOMPLETE',
      message: 'the bundle is for Kubernetes 1.36.4, not 1.37.1',
    }),
  )
})
