import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeImage, fakeRegistries } from '../../catalog/registry/testing/fake-registry.ts'
import { memoryWeb } from '../../catalog/registry/testing/fake-transport.ts'
import { webRegistry } from '../../catalog/registry/registry.ts'
import type { Lock } from '../../catalog/lock.ts'
import { withDigest } from '../../contract/image-reference.ts'
import { bundleDisk } from '../disk.ts'
import { gather } from '../fetch-parts.ts'
import { type OpenBundle, openBundle, type RandomAccess } from '../open.ts'
import { bundleBytes } from '../write.ts'

/** For tests: the key of some cluster. */
export const keys = generateKeyPairSync('ed25519')

const url = 'https://site.example/kubelet'
export const kubelet = Buffer.from('the program kubelet')
export const pauseName = 'registry.example/pause:1'
export const busyboxName = 'docker.io/library/busybox:1.37'
export const images = {
  [pauseName]: fakeImage('pause', ['amd64', 'arm64']),
  [busyboxName]: fakeImage('busybox'),
}

/** One program and two images: one for several kinds of machines, one for a single kind. */
export const lock: Lock = {
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
      sha256: createHash('sha256').update(kubelet).digest('hex'),
      trust: 'published',
    },
  ],
  images: {
    busybox: withDigest(busyboxName, images[busyboxName]?.digest ?? ''),
    pause: withDigest(pauseName, images[pauseName]?.digest ?? ''),
  },
}

export const web = memoryWeb((at) => (at === url ? { body: kubelet } : { status: 404 }))
export const registry = webRegistry(fakeRegistries(images), () => [])

export async function temporaryDirectory(): Promise<
  AsyncDisposable & { readonly at: (name: string) => string }
> {
  const directory = await mkdtemp(join(tmpdir(), 'bundle-'))
  return {
    at: (name) => join(directory, name),
    [Symbol.asyncDispose]: async () => rm(directory, { recursive: true, force: true }),
  }
}

/** A bundle of it all, whose bytes may be changed before it is opened. */
export async function madeBundle(
  change: (bytes: Buffer) => void = () => undefined,
): Promise<AsyncDisposable & { readonly bundle: OpenBundle }> {
  const directory = await temporaryDirectory()
  const [disk, file] = [bundleDisk(), directory.at('lab.bundle')]
  const parts = disk.parts(file)
  const { signal } = new AbortController()
  const wish = { cluster: 'lab', lock, source: 'upstream' } as const
  const manifest = await gather(wish, { web, registry, parts, tell: () => undefined }, signal)
  const bytes = bundleBytes(manifest, keys.privateKey, ({ sha256 }) => parts.content(sha256))
  await disk.write(file, bytes)
  const whole = await readFile(file)
  change(whole)
  return {
    bundle: await openBundle(bytesAccess(whole)),
    [Symbol.asyncDispose]: async () => directory[Symbol.asyncDispose](),
  }
}

export function bytesAccess(bytes: Uint8Array): RandomAccess {
  return {
    read: async (position, size) => bytes.subarray(position, position + size),
    [Symbol.asyncDispose]: async () => undefined,
  }
}
