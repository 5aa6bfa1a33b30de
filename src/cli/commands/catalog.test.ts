import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLock } from '../../catalog/lock.ts'
import { shippedDocument } from '../../catalog/shipped-catalog.ts'
import { readSignedCatalog } from '../../catalog/signed-catalog.ts'
import { fakeFetcher } from '../../catalog/testing/fake-fetcher.ts'
import { fakeImages, fakeUpstream, fakeUpstreamOf } from '../../catalog/testing/fake-upstream.ts'
import { fakeRegistryPage } from '../../catalog/registry/testing/fake-registry.ts'
import { fakeRegistryTransport } from '../../catalog/registry/testing/fake-transport.ts'
import {
  signTestCatalog,
  testCatalogPublicKey as key,
  testCatalogSerial as serial,
} from '../../catalog/testing/test-catalog.ts'
import { createBundleDirectory } from '../../bundle/testing/fixtures.ts'
import { buildPlanInput, parseTestCluster } from '../../plan/testing/fixtures.ts'
import { type CliResult, runHyperkube } from '../testing/run-in-memory.ts'

const cluster = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.36.4
  dns: none
  metrics: none
  ingress: none
  storage: none
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
`
const signed = signTestCatalog()
const { catalog } = readSignedCatalog('test', signed, [key])
const keys = `# Public keys whose catalogs this cluster accepts. Commit this file beside cluster.yml.\n${key}\n`
const mirror = 'http://mirror.example/all'
const adopted = { 'cluster.catalog': signed, 'cluster.catalog-keys': keys }

/**
 * Fake files by URL: upstream files for the release and for the test catalog, and the test catalog itself.
 */
const sites = new Map([
  ...fakeUpstream('1.36.4'),
  ...fakeUpstreamOf(catalog, '1.36.4'),
  ['https://site.example/new.catalog', signed] as const,
  [`${mirror}/hyperkube.dev/catalog`, signed] as const,
])
const images = fakeImages()
const web = fakeRegistryTransport((url, headers) => {
  const body = sites.get(url)
  return typeof body === 'string' ? { body } : fakeRegistryPage(images, url, headers)
})

async function run(words: string, files: Readonly<Record<string, string>>): Promise<CliResult> {
  return runHyperkube(words, files, { fetcher: fakeFetcher((url) => sites.get(url)), web })
}

/** Replaces several spaces with one, because column widths depend on the versions of the release. */
const collapse = (text: string): string => text.replaceAll(/ +/g, ' ')

test('catalog list shows the catalog of the release or of the signed file', async () => {
  const { serial: shipped } = shippedDocument
  const release = await run('catalog list', {})
  expect(release).toMatchObject({ code: 0, stderr: '' })
  expect(collapse(release.stdout)).toContain(`1.36 1.36.4 3.6.16 2.3.7 release ${shipped}\n`)
  const file = await run('catalog list', adopted)
  expect(collapse(file.stdout)).toContain(`1.99 1.99.3 3.99.1 2.3.7 file ${serial}\n`)
  expect(collapse(file.stdout)).toContain(`1.36 1.36.4 3.6.99 2.3.7 file ${serial}\n`)
  const wide = await run('catalog list -o wide', {})
  expect(wide.stdout).toMatch(
    /^MINOR +DEFAULT +ETCD +CONTAINERD +RUNC +CNI +FLANNEL +CRICTL +SHAWL +SOURCE\n/,
  )
  expect(JSON.parse((await run('catalog list -o json', adopted)).stdout)).toMatchObject({
    kind: 'CatalogList',
    source: { from: 'file', serial, publicKey: key },
    items: expect.arrayContaining([expect.objectContaining({ minor: '1.99', defaultPatch: '1.99.3' })]),
  })
})

test('catalog update shows all changes, and writes the catalog and its key only after a confirmation', async () => {
  const files = { 'cluster.yml': cluster, 'new.catalog': signed }
  const words = `catalog update --from new.catalog --public-key ${key}`
  const dry = await run(`${words} --dry-run`, files)
  expect(dry).toMatchObject({ code: 3, files: new Map(Object.entries(files)) })
  expect(dry.stdout).toContain(`~ catalog: serial ${shippedDocument.serial} (`)
  expect(dry.stdout).toContain(`+ trusted key: ${key}\n`)
  expect(dry.stdout).toContain('~ 1.36 etcd: 3.6.16 → 3.6.99\n')
  expect(dry.stdout).toContain('+ 1.99 default patch: 1.99.3\n')
  expect(dry.stdout).toContain('+ flags of kubelet 1.99: 131 flags\n')
  expect(await run(words, files)).toMatchObject({ code: 2, files: new Map(Object.entries(files)) })
  const written = await run(`${words} --yes`, files)
  expect(written.code, written.stderr).toBe(0)
  expect(written.stderr).toContain('wrote cluster.catalog; commit it\nnext: hyperkube lock')
  expect(Object.fromEntries(written.files)).toEqual({ ...files, ...adopted })
  const again = await run('catalog update --from new.catalog', Object.fromEntries(written.files))
  expect(again).toMatchObject({ code: 0, files: written.files })
  expect(again.stdout).toContain('the cluster already has serial')
})

test('a catalog comes from a URL, or from the mirror of cluster.yml', async () => {
  const fromUrl = await run(
    `catalog update --from https://site.example/new.catalog --public-key ${key} --yes`,
    {},
  )
  expect(Object.fromEntries(fromUrl.files)).toEqual(adopted)
  const mirrored = { 'cluster.yml': `${cluster}  artifacts: { mirror: "${mirror}" }\n` }
  const fromMirror = await run('catalog update --yes', { ...mirrored, 'cluster.catalog-keys': keys })
  expect(fromMirror.code, fromMirror.stderr).toBe(0)
  expect(fromMirror.files.get('cluster.catalog')).toBe(signed)
  const nowhere = await run('catalog update --yes', { 'cluster.yml': cluster })
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('CATALOG_NOT_READ') })
})

test('an untrusted, changed or older catalog is refused, and nothing is written', async () => {
  const files = { 'cluster.yml': cluster, 'new.catalog': signed, 'cluster.catalog-keys': keys }
  const refused = async (
    code: string,
    more: Readonly<Record<string, string>>,
    words = 'catalog update --from new.catalog --yes',
  ): Promise<string> => {
    const before = { ...files, ...more }
    const { files: after, ...result } = await run(words, before)
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining(code) })
    expect(Object.fromEntries(after)).toEqual(before)
    return result.stderr
  }
  const untrusted = await refused('CATALOG_NOT_TRUSTED', { 'cluster.catalog-keys': '# none\n' })
  expect(untrusted).toContain(`is signed by the key ${key}, which is not trusted\n`)
  await refused('CATALOG_NOT_TRUSTED', { 'new.catalog': signed.replace('3.6.99', '3.6.98') })
  await refused('CATALOG_KEY_INVALID', { 'cluster.catalog-keys': `${key}\nmine\n` })
  await refused('CATALOG_KEY_INVALID', {}, 'catalog update --from new.catalog --public-key x --yes')
  const older = await refused('CATALOG_OLDER', { 'cluster.catalog': signTestCatalog(serial + 1) })
  expect(older).toContain(`has the serial ${serial}; the cluster already has the catalog ${serial + 1}\n`)
  await refused('CATALOG_OLDER', { 'new.catalog': signTestCatalog(shippedDocument.serial) })
  const accepted = await run('catalog update --from new.catalog --accept-older-catalog --yes', {
    ...files,
    'cluster.catalog': signTestCatalog(serial + 1),
  })
  expect(accepted.files.get('cluster.catalog')).toBe(signed)
})

test('every command verifies the file again', { timeout: 180_000 }, async () => {
  const changed = { 'cluster.yml': cluster, ...adopted, 'cluster.catalog': `${signed} ` }
  for (const words of ['validate', 'lock', 'plan --facts facts', 'catalog list', 'images list']) {
    expect((await run(words, changed)).stderr, words).toContain(
      'CATALOG_NOT_TRUSTED: cluster.catalog was changed',
    )
  }
})

test('a minor of the file is validated with its own flags, and init offers its newest version', async () => {
  const newer = cluster.replace('1.36.4', '1.99.5')
  expect((await run('validate', { 'cluster.yml': newer })).stdout).toContain('CATALOG_UNKNOWN_VERSION')
  expect(await run('validate', { 'cluster.yml': newer, ...adopted })).toMatchObject({ code: 0 })
  const withFlag = `${newer}  components: { kubelet: { args: { new-flag: "true", v: "2" } } }\n`
  const { stdout } = await run('validate', { 'cluster.yml': withFlag, ...adopted })
  expect(stdout).not.toContain('--new-flag')
  expect(stdout).toContain('error FLAG_REMOVED: spec.components.kubelet.args.v')
  const created = await run('init --host root@10.0.0.1=control-plane', adopted)
  expect(created.files.get('cluster.yml')).toContain('kubernetes: 1.99.3')
})

test('versions of the file are locked with their catalog, and planned', { timeout: 180_000 }, async () => {
  const made = await run('init', { 'cluster.yml': cluster, ...adopted })
  const locked = await run('lock', Object.fromEntries(made.files))
  expect(locked.code, locked.stderr).toBe(0)
  expect(locked.stdout).toContain(`+ catalog: serial ${serial}\n`)
  expect(locked.stdout).toContain('+ etcd linux/amd64: 3.6.99 (published)\n')
  const lock = readLock('cluster.lock', locked.files.get('cluster.lock') ?? '')
  expect(lock.catalog).toEqual({ serial, publicKey: key, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  const facts = [...buildPlanInput(parseTestCluster(cluster)).facts].map(
    ([host, one]) => [`facts/${host}.json`, JSON.stringify(one)] as const,
  )
  const files = { ...Object.fromEntries(locked.files), ...Object.fromEntries(facts) }
  const planned = await run('plan --facts facts --wide', files)
  expect(planned.code, planned.stderr).toBe(3)
  expect(planned.stdout).toContain('+ binary etcd-3.6.99')

  const { 'cluster.catalog': _, ...lost } = files
  const withoutCatalog = await run('plan --facts facts', lost)
  expect(withoutCatalog).toMatchObject({ code: 1 })
  expect(withoutCatalog.stdout + withoutCatalog.stderr).toContain(
    `LOCK_OLDER_CATALOG: the lock is from the catalog with the serial ${serial}; cluster.catalog does not exist`,
  )
  expect((await run('lock', lost)).stderr).toContain('LOCK_OLDER_CATALOG')
  const accepted = await run('lock --accept-older-catalog', lost)
  expect(accepted.code, accepted.stderr).toBe(0)
  expect(accepted.stdout).toContain(`- catalog: serial ${serial}\n`)
  expect(accepted.stdout).toContain('~ etcd linux/amd64: 3.6.99 (published) → 3.6.16 (published)\n')
})

test('a bundle carries the catalog to hosts without internet access', async () => {
  await using directory = await createBundleDirectory()
  const file = directory.at('shop.bundle')
  const made = await run('init', { 'cluster.yml': cluster, ...adopted })
  const { files } = await run('lock', Object.fromEntries(made.files))
  const locked: Readonly<Record<string, string>> = Object.fromEntries(files)
  const created = await run(`bundle create --out ${file}`, locked)
  expect(created.code, created.stderr).toBe(0)
  const bundled: Readonly<Record<string, string>> = {
    ...locked,
    'cluster.yml': `${cluster}  artifacts: { bundle: ${file} }\n`,
  }
  const { 'cluster.catalog': _, 'cluster.lock': __, ...fresh } = bundled
  const updated = await run('catalog update --yes', fresh)
  expect(updated.code, updated.stderr).toBe(0)
  expect(updated.files.get('cluster.catalog')).toBe(signed)
  const relocked = await run('lock', Object.fromEntries(updated.files))
  expect(relocked.code, relocked.stderr).toBe(0)
  expect(relocked.files.get('cluster.lock')).toBe(locked['cluster.lock'])
})

test('a file that is older than the release is reported', async () => {
  const text = readFileSync(join(import.meta.dirname, '../../catalog/testdata/v1.catalog'), 'utf8')
  const { code, stdout } = await run('validate', {
    'cluster.yml': cluster,
    ...adopted,
    'cluster.catalog': text,
  })
  expect(code).toBe(0)
  expect(stdout).toContain('warning CATALOG_BEHIND_RELEASE: spec.kubernetes')
})
