import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBundleDirectory } from '../../bundle/testing/fixtures.ts'
import { fakeImages, fakeUpstream } from '../../catalog/testing/fake-upstream.ts'
import { type FakeResponse, fakeFetcher } from '../../catalog/testing/fake-fetcher.ts'
import { fakeRegistryPage } from '../../catalog/registry/testing/fake-registry.ts'
import { fakeRegistryTransport } from '../../catalog/registry/testing/fake-transport.ts'
import { runCommandLine } from '../run-command-line.ts'
import { createInMemoryContext, runHyperkube, type CliResult } from '../testing/run-in-memory.ts'

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
const sites: ReadonlyMap<string, FakeResponse> = fakeUpstream('1.37.1')
const images = fakeImages()
const web = fakeRegistryTransport((url, headers) => {
  const body = sites.get(url)
  return typeof body === 'string' ? { body } : fakeRegistryPage(images, url, headers)
})

let directory: Awaited<ReturnType<typeof createBundleDirectory>>
let file: string
let files: Readonly<Record<string, string>>
let created: CliResult

async function runWithFiles(
  commandLine: string,
  changed: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  const options = { fetcher: fakeFetcher((url) => sites.get(url)), web }
  return runHyperkube(commandLine, { ...files, ...changed }, options)
}

/** Returns the cluster.yml of the same cluster with a bundle as its source. */
function bundledCluster(): Readonly<Record<string, string>> {
  return { 'cluster.yml': `${cluster}  artifacts: { bundle: ${file} }\n` }
}

beforeAll(async () => {
  directory = await createBundleDirectory()
  file = directory.at('shop.bundle')
  files = { 'cluster.yml': cluster }
  files = Object.fromEntries((await runWithFiles('init')).files)
  files = Object.fromEntries((await runWithFiles('lock')).files)
  created = await runWithFiles(`bundle create --out ${file} -o json`)
})
afterAll(async () => directory[Symbol.asyncDispose]())

test('bundle create stores every file and image of the lock and prints a summary', () => {
  expect(created.code, created.stderr).toBe(0)
  expect(created.stderr).toContain('fetching kubelet 1.37.1 linux/amd64\n')
  expect(JSON.parse(created.stdout)).toMatchObject({
    kind: 'BundleSummary',
    file,
    cluster: 'shop',
    kubernetes: '1.37.1',
    artifacts: 13,
    images: [expect.stringMatching(/^registry\.k8s\.io\/pause:3\.10\.2@sha256:/)],
    publicKey: expect.stringMatching(/^[\w+/]{43}=$/),
  })
})

test('a bundle is verified with the identity or with its public key', async () => {
  const verified = await runWithFiles(`bundle verify ${file}`)
  expect(verified).toMatchObject({
    code: 0,
    stdout: `${file} is a valid bundle of shop: Kubernetes 1.37.1, 13 files, 1 image\n`,
  })
  const { publicKey }: { publicKey: string } = JSON.parse(created.stdout)
  expect((await runHyperkube(`bundle verify ${file} --public-key ${publicKey}`)).code).toBe(0)
  const other = `${publicKey.startsWith('A') ? 'B' : 'A'}${publicKey.slice(1)}`
  expect((await runHyperkube(`bundle verify ${file} --public-key ${other}`)).stderr).toMatch(
    /^BUNDLE_NOT_TRUSTED/m,
  )
  expect((await runHyperkube(`bundle verify ${file} --public-key x`)).stderr).toMatch(/^BUNDLE_KEY_NOT_READ/m)
})

test('a bundle with a flipped byte is refused with the name of the damaged file', async () => {
  const bytes = await readFile(file)
  const at = bytes.indexOf('the file https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubelet')
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  const flipped = directory.at('flipped.bundle')
  await writeFile(flipped, bytes)
  const refused = await runWithFiles(`bundle verify ${flipped}`)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain(
    'BUNDLE_DAMAGED: the bundle is damaged: the content of artifacts/linux-amd64/kubelet\n',
  )
})

test('an abort ends the verification, and the writing of a bundle without leftovers beside it', async () => {
  const stop = AbortSignal.abort()
  const verified = await runHyperkube(`bundle verify ${file}`, files, { signal: stop })
  expect(verified).toMatchObject({ code: 130, stdout: '' })
  const { context, collectResult } = createInMemoryContext(files, {
    fetcher: fakeFetcher((url) => sites.get(url)),
    web,
  })
  const [writing, aborted] = [new AbortController(), directory.at('aborted')]
  await mkdir(aborted)
  const write = (text: string): void => {
    context.stderr.write(text)
    if (text.startsWith('writing ')) writing.abort()
  }
  const args = ['bundle', 'create', '--out', `${aborted}/shop.bundle`]
  const stderr = { write }
  const code = await runCommandLine('hyperkube', args, { ...context, stderr, signal: writing.signal })
  expect(collectResult(code)).toMatchObject({ code: 130, stdout: '' })
  expect(await readdir(aborted)).toEqual(['shop.bundle.parts'])
})

test('the lock resolved from a bundle without network access is unchanged', async () => {
  const offline = await runHyperkube('lock --check', { ...files, ...bundledCluster() })
  expect(offline).toMatchObject({ code: 0, stdout: 'cluster.lock: no changes\n' })
  const { 'cluster.lock': lock = '', ...without } = files
  const again = await runHyperkube('lock', { ...without, ...bundledCluster() })
  expect(again.files.get('cluster.lock')).toBe(lock)
})

test('a bundle for another Kubernetes version is refused', async () => {
  const changed = { 'cluster.yml': (bundledCluster()['cluster.yml'] ?? '').replace('1.37.1', '1.36.4') }
  const incomplete = await runHyperkube('lock', { ...files, ...changed })
  expect(incomplete.code).toBe(1)
  expect(incomplete.stderr).toContain('BUNDLE_INCOMPLETE: the bundle is for Kubernetes 1.37.1, not 1.36.4')
})

test('a missing bundle is an error', async () => {
  for (const commandLine of ['bundle verify /no/such.bundle', 'bundle verify']) {
    const { code, stderr } = await runWithFiles(commandLine)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^BUNDLE_NOT_READ/m)])
  }
  expect((await runWithFiles('bundle')).code).toBe(2)
})

test('bundle create without cluster.lock is an error', async () => {
  const { 'cluster.lock': _, ...without } = files
  const { code, stderr } = await runHyperkube('bundle create', without)
  expect([code, stderr]).toEqual([1, expect.stringContaining('LOCK_NOT_READ: cluster.lock does not exist')])
})
