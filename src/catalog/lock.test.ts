import { readFile } from 'node:fs/promises'
import { array, assert, constantFrom, property, record, shuffledSubarray, stringMatching } from 'fast-check'
import { expect, test } from 'vitest'
import type { ArtifactTarget } from './artifacts.ts'
import { findKubernetesRelease } from './catalog.ts'
import { shippedCatalog } from './shipped-catalog.ts'
import { checkLock } from './check-lock.ts'
import { compareLocks } from './compare-locks.ts'
import { artifactId, formatLock, type Lock, readLock } from './lock.ts'
import { remoteRegistry } from './registry/registry.ts'
import { fakeRegistries } from './registry/testing/fake-registry.ts'
import { resolveLock } from './resolve-lock.ts'
import { fakeFetcher } from './testing/fake-fetcher.ts'
import { fakeImages, fakeUpstream } from './testing/fake-upstream.ts'

const linux: ArtifactTarget = { os: 'linux', arch: 'amd64' }
const windows: ArtifactTarget = { os: 'windows', arch: 'amd64' }

async function locked(version: string, ...targets: ArtifactTarget[]): Promise<Lock> {
  const sites = fakeUpstream(version)
  const fetcher = fakeFetcher((url) => sites.get(url))
  const registry = remoteRegistry(fakeRegistries(fakeImages()), () => [])
  // Only `pause` is used, because other images of the catalog may change while the lock format stays the
  // same.
  const release = findKubernetesRelease(shippedCatalog, version)
  const { pause = '' } = release.images
  const options = { release, targets, source: 'upstream', images: { pause } } as const
  return resolveLock(options, { fetcher, registry }, new AbortController().signal)
}

/** Resolves the programs of a held upgrade from 1.36.4 to 1.37.1. */
async function lockHeld(): Promise<NonNullable<Lock['heldUpgrade']>> {
  const sites = new Map([...fakeUpstream('1.36.4'), ...fakeUpstream('1.37.1')])
  const fetcher = fakeFetcher((url) => sites.get(url))
  const registry = remoteRegistry(fakeRegistries(fakeImages()), () => [])
  const options = {
    release: findKubernetesRelease(shippedCatalog, '1.36.4'),
    held: findKubernetesRelease(shippedCatalog, '1.37.1'),
    targets: [linux, windows],
    source: 'upstream',
    images: {},
  } as const
  const { heldUpgrade } = await resolveLock(options, { fetcher, registry }, new AbortController().signal)
  if (heldUpgrade === undefined) throw new Error('the lock has no held upgrade')
  return heldUpgrade
}

test('a lock is written in the golden v1 format and read back unchanged', async () => {
  const lock = await locked('1.37.1', windows, linux)
  await expect(formatLock(lock)).toMatchFileSnapshot('testdata/v1.lock')
  expect(formatLock(readLock('cluster.lock', formatLock(lock)))).toBe(formatLock(lock))
})

test('a lock names its catalog after the Kubernetes version', async () => {
  const catalog = { serial: 2026111801, publicKey: `${'A'.repeat(43)}=`, sha256: '0'.repeat(64) }
  const lock = { ...(await locked('1.37.1')), catalog }
  await expect(formatLock(lock)).toMatchFileSnapshot('testdata/v1-catalog.lock')
  expect(readLock('cluster.lock', formatLock(lock))).toEqual(lock)
})

test('a held upgrade is written beside the programs of the version before it', async () => {
  const lock = { ...(await locked('1.36.4', linux)), heldUpgrade: await lockHeld() }
  await expect(formatLock(lock)).toMatchFileSnapshot('testdata/v1-held-upgrade.lock')
  expect(readLock('cluster.lock', formatLock(lock))).toEqual(lock)
})

test('charts are written to the lock with their digests, and Helm is one of its artifacts', async () => {
  const sites = fakeUpstream('1.37.1')
  const options = {
    release: findKubernetesRelease(shippedCatalog, '1.37.1'),
    targets: [linux, windows],
    source: 'upstream',
    images: {},
    helm: true,
  } as const
  const deps = {
    fetcher: fakeFetcher((url) => sites.get(url)),
    registry: remoteRegistry(fakeRegistries({}), () => []),
  }
  const plain = await resolveLock(options, deps, new AbortController().signal)
  expect(plain.artifacts.filter(({ component }) => component === 'helm')).toMatchObject([
    { version: '4.3.1', os: 'linux', trust: 'published' },
  ])
  expect(checkLock(plain, options)).toEqual([])
  const artifacts = plain.artifacts.filter(({ component }) => component !== 'helm')
  expect(checkLock({ ...plain, artifacts }, options)).toMatchObject([
    { code: 'LOCK_MISSING_ARTIFACT', message: 'the lock has no helm linux/amd64' },
  ])
  expect(checkLock({ ...plain, artifacts }, { ...options, helm: false })).toEqual([])
  const url = 'https://charts.example/web-2.0.0.tgz'
  const charts = {
    web: { version: '2.0.0', url, sha256: 'b'.repeat(64) },
    shop: { version: '1.0.0', sha256: 'a'.repeat(64) },
  }
  const lock = { ...plain, artifacts: [], charts }
  await expect(formatLock(lock)).toMatchFileSnapshot('testdata/v1-charts.lock')
  expect(readLock('cluster.lock', formatLock(lock))).toEqual(lock)
  const edited = { ...lock, charts: { ...charts, shop: { ...charts.shop, sha256: 'c'.repeat(64) } } }
  expect(compareLocks(lock, edited)).toEqual([
    {
      what: 'chart shop',
      before: `1.0.0 sha256:${'a'.repeat(64)}`,
      after: `1.0.0 sha256:${'c'.repeat(64)}`,
      replaced: false,
    },
  ])
})

test('a lock must agree with cluster.yml about a held upgrade', async () => {
  const plain = await locked('1.36.4', linux)
  const held = { ...plain, heldUpgrade: await lockHeld() }
  const codes = (lock: Lock, version?: string) =>
    checkLock(lock, {
      release: findKubernetesRelease(shippedCatalog, '1.36.4'),
      held: version === undefined ? undefined : findKubernetesRelease(shippedCatalog, version),
      targets: [linux],
      images: {},
    }).map(({ code }) => code)
  expect(codes(held, '1.37.1')).toEqual([])
  expect(codes(plain)).toEqual([])
  // Without the programs of the held upgrade, a plan would start old programs with new flags.
  expect(codes(plain, '1.37.1')).toEqual(['LOCK_OTHER_KUBERNETES'])
  expect(codes(held, '1.37.2')).toEqual(['LOCK_OTHER_KUBERNETES'])
  expect(codes(held)).toEqual(['LOCK_OTHER_KUBERNETES'])
  const [, ...fewer] = held.heldUpgrade.artifacts
  const incomplete = { ...held, heldUpgrade: { ...held.heldUpgrade, artifacts: fewer } }
  expect(codes(incomplete, '1.37.1')).toEqual(['LOCK_MISSING_ARTIFACT'])
  expect(compareLocks(plain, held).map(({ what }) => what)).toEqual([
    'held upgrade',
    'held kube-apiserver linux/amd64',
    'held kube-controller-manager linux/amd64',
    'held kube-scheduler linux/amd64',
  ])
})

test('Windows builds of images are written to the lock and read back', async () => {
  const builds = { pause: [17_763, 20_348, 26_100], busybox: [] }
  const lock = { ...(await locked('1.37.1', windows)), windowsBuilds: builds }
  await expect(formatLock(lock)).toMatchFileSnapshot('testdata/v1-windows-builds.lock')
  expect(readLock('cluster.lock', formatLock(lock))).toEqual(lock)
})

test('a lock from before image pinning is read, and the check lists only later programs', async () => {
  const text = await readFile(new URL('testdata/v1-images-by-name.lock', import.meta.url), 'utf8')
  const lock = readLock('cluster.lock', text)
  expect(lock.images).toEqual({ pause: 'registry.k8s.io/pause:3.10.2' })
  expect(formatLock(lock)).toBe(text)
  expect(
    checkLock(lock, {
      release: findKubernetesRelease(shippedCatalog, '1.37.1'),
      targets: [linux],
      images: lock.images,
    }).map(({ code, message }) => `${code} ${message}`),
    // This lock was written before kube-router was added. `hyperkube lock` adds it.
  ).toEqual(['LOCK_MISSING_ARTIFACT the lock has no kube-router linux/amd64'])
  // This lock was also written before these two programs for Windows hosts were added.
  const more = ['kube-router linux/amd64', 'kube-log-runner windows/amd64', 'shawl windows/amd64']
  expect(
    checkLock(lock, {
      release: findKubernetesRelease(shippedCatalog, '1.37.1'),
      targets: [linux, windows],
      images: lock.images,
    }).map(({ message }) => message),
  ).toEqual(more.map((what) => `the lock has no ${what}`))
  expect(compareLocks(lock, await locked('1.37.1', linux, windows))).toMatchObject([
    { what: 'image pause', before: 'registry.k8s.io/pause:3.10.2', replaced: false },
    ...more.map((what) => ({ what, before: undefined })),
  ])
})

test('the same content gives the same bytes for any order of artifacts and keys', async () => {
  const lock = await locked('1.37.1', linux, windows)
  const orders = shuffledSubarray(lock.artifacts, { minLength: lock.artifacts.length })
  assert(
    property(orders, (artifacts) => {
      expect(
        formatLock({
          images: lock.images,
          artifacts,
          kubernetes: lock.kubernetes,
          kind: lock.kind,
          apiVersion: lock.apiVersion,
        }),
      ).toBe(formatLock(lock))
    }),
    { numRuns: 20 },
  )
})

test('every digest survives formatting and reading, including digests that resemble numbers', () => {
  const artifact = record({
    component: stringMatching(/^[a-z0-9-]{1,12}$/),
    version: stringMatching(/^\d{1,3}\.\d{1,3}\.\d{1,3}$/),
    os: constantFrom('linux', 'windows'),
    arch: constantFrom('amd64', 'arm64'),
    url: constantFrom(`https://site.example/${'long/'.repeat(40)}`),
    sha256: constantFrom('0'.repeat(64), '1'.repeat(64), `1e${'2'.repeat(62)}`, 'ab'.repeat(32)),
    trust: constantFrom('published', 'first-download'),
  })
  assert(
    property(array(artifact, { maxLength: 5 }), (all) => {
      const artifacts = [...new Map(all.map((one) => [artifactId(one), one])).values()]
      const lock: Lock = {
        apiVersion: 'hyperkube.dev/v1',
        kind: 'Lock',
        kubernetes: '1.37.1',
        artifacts,
        images: {},
      }
      const read = readLock('x', formatLock(lock))
      expect(new Set(read.artifacts)).toEqual(new Set(artifacts))
    }),
    { numRuns: 50 },
  )
})

test.each([
  ['an empty file', () => ''],
  ['invalid YAML', () => '{'],
  ['a merge conflict', (text: string) => `<<<<<<< HEAD\n${text}`],
  ['another kind', (text: string) => text.replace('kind: Lock', 'kind: Cluster')],
  ['a later version', (text: string) => text.replace('hyperkube.dev/v1', 'hyperkube.dev/v2')],
  ['a short digest', (text: string) => text.replace(/sha256: ../, 'sha256: ')],
  ['a URL without encryption', (text: string) => text.replace('url: https', 'url: http')],
  ['an unknown key', (text: string) => `${text}more: 1\n`],
  ['an artifact twice', (text: string) => text.replace('component: runc', 'component: etcd')],
  ['a key twice', (text: string) => `${text}kubernetes: 1.37.1\n`],
  ['two documents', (text: string) => `${text}---\n${text}`],
  ['a file over the size limit', (text: string) => text + '#'.repeat(1_000_000)],
])('%s is not a valid lock', async (_, change) => {
  const text = formatLock(await locked('1.37.1', linux))
  expect(() => readLock('cluster.lock', change(text))).toThrow(
    expect.objectContaining({ code: 'LOCK_NOT_READ', message: 'cluster.lock is not a valid cluster.lock' }),
  )
})

test('a lock has no findings for the release and targets it was resolved for', async () => {
  const lock = await locked('1.37.1', linux, windows)
  const release = {
    ...findKubernetesRelease(shippedCatalog, '1.37.1'),
    images: { pause: 'registry.k8s.io/pause:3.10.2' },
  }
  expect(checkLock(lock, { release, targets: [linux, windows] })).toEqual([])
  expect(checkLock(lock, { release, targets: [linux] })).toEqual([])
})

test('checkLock reports another Kubernetes version, artifact or image, and missing artifacts', async () => {
  const lock = await locked('1.37.1', linux)
  const release = {
    ...findKubernetesRelease(shippedCatalog, '1.37.1'),
    images: { pause: 'registry.k8s.io/pause:3.10.2' },
  }
  const messages = (other: Lock, ...targets: ArtifactTarget[]): string[] =>
    checkLock(other, { release, targets }).map(({ code, message }) => `${code}: ${message}`)
  expect(messages(await locked('1.36.4', linux), linux)).toEqual([
    'LOCK_OTHER_KUBERNETES: the lock is for Kubernetes 1.36.4, not 1.37.1',
  ])
  const without = { ...lock, artifacts: lock.artifacts.filter(({ component }) => component !== 'runc') }
  expect(messages(without, linux)).toEqual(['LOCK_MISSING_ARTIFACT: the lock has no runc linux/amd64'])
  expect(messages(lock, linux, windows)).toHaveLength(8)
  const older = lock.artifacts.map((one) => (one.component === 'etcd' ? { ...one, version: '3.6.16' } : one))
  expect(messages({ ...lock, artifacts: older }, linux)[0]).toMatch(/^LOCK_OTHER_ARTIFACT: the lock has etcd/)
  const image = `registry.k8s.io/pause:3.9@sha256:${'0'.repeat(64)}`
  expect(messages({ ...lock, images: { pause: image } }, linux)).toEqual([
    `LOCK_OTHER_IMAGE: the lock has ${image} for pause, not registry.k8s.io/pause:3.10.2`,
  ])
  expect(messages({ ...lock, images: {} }, linux)).toEqual([
    'LOCK_OTHER_IMAGE: the lock has no image for pause, not registry.k8s.io/pause:3.10.2',
  ])
})

test('compareLocks lists changed artifacts between two Kubernetes versions', async () => {
  const [before, after] = [await locked('1.36.4', linux), await locked('1.37.1', linux)]
  expect(compareLocks(before, before)).toEqual([])
  expect(compareLocks(undefined, after)).toHaveLength(1 + 13 + 1)
  expect(compareLocks(before, after).map(({ what }) => what)).toEqual([
    'kubernetes',
    'etcd linux/amd64',
    'kube-apiserver linux/amd64',
    'kube-controller-manager linux/amd64',
    'kube-proxy linux/amd64',
    'kube-scheduler linux/amd64',
    'kubectl linux/amd64',
    'kubelet linux/amd64',
  ])
  expect(compareLocks(before, after).some(({ replaced }) => replaced)).toBe(false)
})

test('changed bytes under the same URL or name are marked as replaced', async () => {
  const before = await locked('1.37.1', linux)
  const artifacts = before.artifacts.map((one) =>
    one.component === 'flannel' ? { ...one, sha256: '0'.repeat(64) } : one,
  )
  expect(compareLocks(before, { ...before, artifacts })).toMatchObject([
    { what: 'flannel linux/amd64', replaced: true },
  ])
  const images = { pause: `registry.k8s.io/pause:3.10.2@sha256:${'0'.repeat(64)}` }
  expect(compareLocks(before, { ...before, images })).toMatchObject([{ what: 'image pause', replaced: true }])
})
