import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lock } from '../../catalog/lock.ts'
import { remoteRegistry } from '../../catalog/registry/registry.ts'
import { fakeImage, fakeRegistries } from '../../catalog/registry/testing/fake-registry.ts'
import { fakeRegistryTransport } from '../../catalog/registry/testing/fake-transport.ts'
import { pinDigest } from '../../contract/image-reference.ts'
import { streamBundle } from '../archive.ts'
import { type BundleDisk, bundleDisk } from '../disk.ts'
import { fetchBundleParts } from '../fetch-parts.ts'
import { type OpenBundle, openBundle, type RandomAccess } from '../open.ts'

/** Key pair that signs bundles in tests. */
export const bundleKeys = generateKeyPairSync('ed25519')

const url = 'https://site.example/kubelet'
export const kubeletContent = Buffer.from('the program kubelet')
export const pauseName = 'registry.example/pause:1'
export const busyboxName = 'docker.io/library/busybox:1.37'
export const bundleImages = {
  [pauseName]: fakeImage('pause', ['amd64', 'arm64']),
  [busyboxName]: fakeImage('busybox'),
}

/**
 * A lock with one program and two images. One image supports several architectures, the other image only one.
 */
export const bundleLock: Lock = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'Lock',
  kubernetes: '1.37.1',
  artifacts: [
    {
      component: 'kubelet',
      version: '1.37.1',
      os: 'linux',
      arch: 'amd64',
      url,
      sha256: createHash('sha256').update(kubeletContent).digest('hex'),
      trust: 'published',
    },
  ],
  images: {
    busybox: pinDigest(busyboxName, bundleImages[busyboxName]?.digest ?? ''),
    pause: pinDigest(pauseName, bundleImages[pauseName]?.digest ?? ''),
  },
}

export const web = fakeRegistryTransport((at) => (at === url ? { body: kubeletContent } : { status: 404 }))
export const registry = remoteRegistry(fakeRegistries(bundleImages), () => [])

export async function createBundleDirectory(): Promise<
  AsyncDisposable & { readonly at: (name: string) => string }
> {
  const directory = await mkdtemp(join(tmpdir(), 'bundle-'))
  return {
    at: (name) => join(directory, name),
    [Symbol.asyncDispose]: async () => rm(directory, { recursive: true, force: true }),
  }
}

/** Creates a bundle for tests as a file on the disk. */
export async function createTestBundleFile(
  disk: BundleDisk,
): Promise<AsyncDisposable & { readonly path: string }> {
  const directory = await createBundleDirectory()
  const file = directory.at('lab.bundle')
  const parts = disk.parts(file)
  const { signal } = new AbortController()
  const spec = { cluster: 'lab', lock: bundleLock, source: 'upstream' } as const
  const manifest = await fetchBundleParts(spec, { web, registry, parts, onFetch: () => undefined }, signal)
  const bytes = streamBundle(manifest, bundleKeys.privateKey, ({ sha256 }) => parts.content(sha256))
  await disk.write(file, bytes)
  return { path: file, [Symbol.asyncDispose]: async () => directory[Symbol.asyncDispose]() }
}

/** Creates a bundle for tests. `change` may modify its bytes before it is opened. */
export async function createTestBundle(
  change: (bytes: Buffer) => void = () => undefined,
): Promise<AsyncDisposable & { readonly bundle: OpenBundle }> {
  const file = await createTestBundleFile(bundleDisk())
  const whole = await readFile(file.path)
  change(whole)
  return {
    bundle: await openBundle(bytesAsFile(whole)),
    [Symbol.asyncDispose]: async () => file[Symbol.asyncDispose](),
  }
}

export function bytesAsFile(bytes: Uint8Array): RandomAccess {
  return {
    read: async (position, size) => bytes.subarray(position, position + size),
    [Symbol.asyncDispose]: async () => undefined,
  }
}
