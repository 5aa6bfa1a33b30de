import { expect, test } from 'vitest'
import { buildFakeReleaseDigests, fakeImages, fakeUpstream } from '../../catalog/testing/fake-upstream.ts'
import { httpFetcher } from '../../catalog/fetcher.ts'
import { emptyReleaseDigests } from '../../catalog/release-digests.ts'
import { readLock } from '../../catalog/lock.ts'
import { type FakeResponse, fakeFetcher } from '../../catalog/testing/fake-fetcher.ts'
import { fakeRegistries } from '../../catalog/registry/testing/fake-registry.ts'
import { startFakeArtifactServer } from '../../catalog/testing/fake-artifact-server.ts'
import { runHyperkube, type CliResult } from '../testing/run-in-memory.ts'

const cluster = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  dns: none
  metrics: none
  ingress: none
  storage: none
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
`
const fakeReleaseDigests = buildFakeReleaseDigests('1.37.1')
const flannel = 'https://github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld-amd64'

/** Runs a command line against fake upstream sites. `changes` replaces some of their responses. */
async function lock(
  words: string,
  files: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, FakeResponse>> = {},
  releaseDigests = emptyReleaseDigests,
): Promise<CliResult> {
  const sites = new Map([...fakeUpstream('1.37.1', '1.36.4'), ...Object.entries(changes)])
  return runHyperkube(words, files, {
    fetcher: fakeFetcher((url) => sites.get(url)),
    web: fakeRegistries(fakeImages()),
    releaseDigests,
  })
}

function lockedTargets(text: string | undefined): string[] {
  const { artifacts } = readLock('cluster.lock', text ?? '')
  return [...new Set(artifacts.map(({ os, arch }) => `${os}/${arch}`))]
}

test('the first lock writes cluster.lock, and the second changes nothing', async () => {
  const first = await lock('lock', { 'cluster.yml': cluster })
  expect(first.code).toBe(0)
  expect(first.stdout).toMatchInlineSnapshot(`
    "+ kubernetes: 1.37.1
    + cni-plugins linux/amd64: 1.9.1 (published)
    + containerd linux/amd64: 2.3.7 (published)
    + crictl linux/amd64: 1.36.0 (published)
    + etcd linux/amd64: 3.7.3 (published)
    + flannel linux/amd64: 0.28.7 (first-download)
    + kube-apiserver linux/amd64: 1.37.1 (published)
    + kube-controller-manager linux/amd64: 1.37.1 (published)
    + kube-proxy linux/amd64: 1.37.1 (published)
    + kube-router linux/amd64: 2.10.0 (published)
    + kube-scheduler linux/amd64: 1.37.1 (published)
    + kubectl linux/amd64: 1.37.1 (published)
    + kubelet linux/amd64: 1.37.1 (published)
    + runc linux/amd64: 1.5.2 (published)
    + image pause: registry.k8s.io/pause:3.10.2
    "
  `)
  expect(first.stderr).toContain(`downloading ${flannel} to compute its checksum; upstream publishes none\n`)
  expect(first.stderr).toContain('wrote cluster.lock; commit it\n')
  expect(lockedTargets(first.files.get('cluster.lock'))).toEqual(['linux/amd64'])
  const second = await lock('lock', Object.fromEntries(first.files))
  expect(second).toMatchObject({ code: 0, stdout: 'cluster.lock: no changes\n', files: first.files })
  expect(second.stderr).not.toContain('wrote')
})

test('lock after a version change prints the changes as text and as JSON', async () => {
  const { files } = await lock('lock', { 'cluster.yml': cluster.replace('1.37.1', '1.36.4') })
  const upgrade = { ...Object.fromEntries(files), 'cluster.yml': cluster }
  const people = await lock('lock', upgrade)
  expect(people.stdout).toMatchInlineSnapshot(`
    "~ kubernetes: 1.36.4 → 1.37.1
    ~ etcd linux/amd64: 3.6.16 (published) → 3.7.3 (published)
    ~ kube-apiserver linux/amd64: 1.36.4 (published) → 1.37.1 (published)
    ~ kube-controller-manager linux/amd64: 1.36.4 (published) → 1.37.1 (published)
    ~ kube-proxy linux/amd64: 1.36.4 (published) → 1.37.1 (published)
    ~ kube-scheduler linux/amd64: 1.36.4 (published) → 1.37.1 (published)
    ~ kubectl linux/amd64: 1.36.4 (published) → 1.37.1 (published)
    ~ kubelet linux/amd64: 1.36.4 (published) → 1.37.1 (published)
    "
  `)
  const programs = await lock('lock --check -o json', upgrade)
  expect(programs.code).toBe(3)
  expect(JSON.parse(programs.stdout)).toMatchObject({
    kind: 'LockChangeList',
    items: [
      { what: 'kubernetes', before: '1.36.4', after: '1.37.1', replaced: false },
      ...Array.from({ length: 7 }, () => ({ replaced: false })),
    ],
  })
})

test('--check writes nothing, and exits with 3 if the lock would change', async () => {
  const pending = await lock('lock --check', { 'cluster.yml': cluster })
  expect([pending.code, [...pending.files.keys()]]).toEqual([3, ['cluster.yml']])
  const { files } = await lock('lock', { 'cluster.yml': cluster })
  expect((await lock('lock --check', Object.fromEntries(files))).code).toBe(0)
})

test('lock targets are the operating systems of the hosts and the architectures of --arch', async () => {
  const mixed = `${cluster}    - { name: w1, address: 10.0.0.2, roles: [worker], os: windows }\n`
  const both = await lock('lock --arch amd64 --arch arm64 -f a/shop.yaml', { 'a/shop.yaml': mixed })
  expect(lockedTargets(both.files.get('a/shop.lock'))).toEqual([
    'linux/amd64',
    'linux/arm64',
    'windows/amd64',
  ])
  const one = await lock('lock --arch arm64', { 'cluster.yml': mixed })
  expect(lockedTargets(one.files.get('cluster.lock'))).toEqual(['linux/arm64', 'windows/amd64'])
  expect(await lock('lock --arch x64', { 'cluster.yml': cluster })).toMatchObject({ code: 2, stdout: '' })
})

test('content that changed under the same URL is refused without --accept-changed-digests', async () => {
  const { files } = await lock('lock', { 'cluster.yml': cluster })
  const before = Object.fromEntries(files)
  for (const words of ['lock', 'lock --check']) {
    const refused = await lock(words, before, { [flannel]: 'evil' })
    expect(refused).toMatchObject({ code: 1, stdout: '', files })
    expect(refused.stderr).toContain(
      'LOCK_DIGEST_CHANGED: content has changed under the same version and URL',
    )
    expect(refused.stderr).toContain('  flannel linux/amd64: 0.28.7 (first-download) https://github.com/')
    expect(refused.stderr).toContain('hyperkube lock --accept-changed-digests')
  }
  const accepted = await lock('lock --accept-changed-digests', before, { [flannel]: 'evil' })
  expect(accepted.code).toBe(0)
  expect(accepted.stdout).toContain('~ flannel linux/amd64')
  expect(accepted.files.get('cluster.lock')).not.toBe(before['cluster.lock'])
})

test('an image tag with another digest than in the lock is refused', async () => {
  const { files } = await lock('lock', { 'cluster.yml': cluster })
  const text = files.get('cluster.lock') ?? ''
  const moved = text.replace(/(pause:3\.10\.2@sha256:)[0-9a-f]{64}/, `$1${'0'.repeat(64)}`)
  const refused = await lock('lock', { 'cluster.yml': cluster, 'cluster.lock': moved })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(`image pause: registry.k8s.io/pause:3.10.2@sha256:${'0'.repeat(64)} →`)
})

test('lock prints how each digest was verified', async () => {
  const first = await lock('lock', { 'cluster.yml': cluster })
  expect(first.stderr).toContain('verified against this hyperkube release: 0 of 14 digests\n')
  expect(first.stderr).toContain(
    'verified only against the checksum file of the publisher: cni-plugins linux/amd64, containerd linux/amd64,',
  )
  expect(first.stderr).toContain('trusted at first download: flannel linux/amd64, image pause\n')
  const { stdout, stderr } = await lock('lock -o json', { 'cluster.yml': cluster }, {}, fakeReleaseDigests)
  expect(stderr).toContain('verified against this hyperkube release: 14 of 14 digests\n')
  expect(stderr).not.toContain('trusted at first download')
  // The release has the digest, so the file is not downloaded.
  expect(stderr).not.toContain(`downloading ${flannel}`)
  expect(JSON.parse(stdout)).toMatchObject({ trust: { published: [], firstDownload: [] } })
})

test('content that differs from the release is refused, unless the mirror has its own builds', async () => {
  const checksum = 'https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubelet.sha256'
  const evil = 'e'.repeat(64)
  const refused = await lock('lock', { 'cluster.yml': cluster }, { [checksum]: evil }, fakeReleaseDigests)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(`LOCK_DIGEST_REFUSED: ${checksum} has the digest ${evil}`)
  expect(refused.files.has('cluster.lock')).toBe(false)
  const sites = new Map([...fakeUpstream('1.37.1'), [checksum, evil]])
  await using server = await startFakeArtifactServer((path) => sites.get(`https:/${path}`))
  const own = await runHyperkube(
    'lock',
    { 'cluster.yml': `${cluster}  artifacts: { mirror: "${server.url}", digests: mirror }\n` },
    { fetcher: httpFetcher({}), web: fakeRegistries(fakeImages()), releaseDigests: fakeReleaseDigests },
  )
  expect(own.code).toBe(0)
  expect(own.stdout).toContain('+ kubelet linux/amd64: 1.37.1 (published)')
})

test('several refused digests are one error with the hint digests: mirror', async () => {
  const file = (name: string): string => `https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/${name}.sha256`
  const changes = { [file('kubelet')]: 'e'.repeat(64), [file('kube-proxy')]: 'f'.repeat(64) }
  const { code, stderr } = await lock('lock', { 'cluster.yml': cluster }, changes, fakeReleaseDigests)
  expect(code).toBe(1)
  expect(stderr).toContain('LOCK_NOT_RESOLVED')
  expect(stderr).toContain('digests: mirror')
})

test('all failed downloads are reported, and the previous lock is kept', async () => {
  const { files } = await lock('lock', { 'cluster.yml': cluster.replace('1.37.1', '1.36.4') })
  const kubelet = 'https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubelet.sha256'
  const failed = await lock(
    'lock',
    { ...Object.fromEntries(files), 'cluster.yml': cluster },
    { [kubelet]: { status: 404 }, [flannel]: { status: 503 } },
  )
  expect(failed).toMatchObject({ code: 1, stdout: '' })
  expect(failed.stderr).toContain(
    'LOCK_NOT_RESOLVED: cannot resolve all versions and checksums; cluster.lock was not written',
  )
  expect(failed.stderr).toContain(`${kubelet} returned status 404\n  ${flannel} returned status 503\n`)
  expect(failed.files.get('cluster.lock')).toBe(files.get('cluster.lock'))
})

test.each([
  [
    'an invalid cluster.yml',
    { 'cluster.yml': cluster.replace('control-plane', 'worker') },
    'SPEC_NO_CONTROL_PLANE',
  ],
  ['an unknown minor', { 'cluster.yml': cluster.replace('1.37.1', '1.39.0') }, 'CATALOG_UNKNOWN_VERSION'],
  [
    'a version that the source does not have',
    { 'cluster.yml': cluster.replace('1.37.1', '1.37.9') },
    'check that the source has Kubernetes 1.37.9, or set spec.kubernetes to a version of the catalog: 1.37.1, 1.36.4, 1.35.8, 1.34.10, 1.33.13, 1.32.5',
  ],
  [
    'a bundle without an identity',
    { 'cluster.yml': `${cluster}  artifacts: { bundle: b.tar }\n` },
    'IDENTITY_NOT_READ',
  ],
  ['a damaged lock', { 'cluster.yml': cluster, 'cluster.lock': '<<<<<<<' }, 'LOCK_NOT_READ'],
])('%s is an error, and nothing is written', async (_, files, message) => {
  const ran = await lock('lock', files)
  expect(ran).toMatchObject({ code: 1, stdout: '', files: new Map(Object.entries(files)) })
  expect(ran.stderr).toContain(message)
})

test('an interrupt ends lock with exit code 130', async () => {
  const signal = AbortSignal.abort()
  expect(await runHyperkube('lock', { 'cluster.yml': cluster }, { signal })).toMatchObject({
    code: 130,
    stdout: '',
  })
})

test('a lock from an HTTP mirror is equal to the lock from upstream', async () => {
  const sites = fakeUpstream('1.37.1')
  await using server = await startFakeArtifactServer((path) => sites.get(`https:/${path}`))
  const web = fakeRegistries(fakeImages())
  const mirrored = `${cluster}  artifacts: { mirror: "${server.url}" }\n`
  const ran = await runHyperkube('lock', { 'cluster.yml': mirrored }, { fetcher: httpFetcher({}), web })
  expect(ran.code).toBe(0)
  expect(ran.stderr).toContain('warning: the mirror is not encrypted')
  const upstream = await lock('lock', { 'cluster.yml': cluster })
  expect(ran.files.get('cluster.lock')).toBe(upstream.files.get('cluster.lock'))
})

test('workers of an older version have pins of their own, which a later lock keeps', async () => {
  const mixed = cluster.replace('kubernetes: 1.37.1', 'kubernetes: 1.37.1\n  workers: { kubernetes: 1.36.4 }')
  const first = await lock('lock', { 'cluster.yml': mixed })
  expect(first.code).toBe(0)
  expect(first.stdout).toContain('+ kubelet linux/amd64: 1.37.1 (published)')
  expect(first.stdout).toContain('+ workers: kubelet linux/amd64: 1.36.4 (published)')
  const { workers } = readLock('cluster.lock', first.files.get('cluster.lock') ?? '')
  expect(workers?.kubernetes).toBe('1.36.4')
  const again = await lock('lock', Object.fromEntries(first.files))
  expect(again.stdout).toContain('no changes')
  const after = await lock('lock', { ...Object.fromEntries(first.files), 'cluster.yml': cluster })
  expect(after.stdout).toContain('- workers: kubelet linux/amd64: 1.36.4 (published)')
  expect(readLock('cluster.lock', after.files.get('cluster.lock') ?? '').workers).toBeUndefined()
})
