import { createHash } from 'node:crypto'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bundleDisk } from '../../bundle/disk.ts'
import { httpFetcher } from '../../catalog/fetcher.ts'
import type { Lock, LockedArtifact } from '../../catalog/lock.ts'
import { startFakeArtifactServer } from '../../catalog/testing/fake-artifact-server.ts'
import { httpTransport } from '../../catalog/transport.ts'
import type { HttpRoute } from '../../kit/http-route.ts'
import { Secret } from '../../pki/secret.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { readCluster } from '../../spec/read-cluster.ts'
import { pinCharts } from '../../workspace/pin-charts.ts'
import { renderCharts } from '../../workspace/render-charts.ts'
import { createChartRenderer } from './chart-renderer.ts'
import { createLocalFiles } from './local-files.ts'
import { buildCacheName } from './locked-program.ts'
import { createTemporaryDirectory, type WorkDirectory } from './temporary-directory.ts'

const arch = process.arch === 'arm64' ? 'arm64' : 'amd64'
const helm: LockedArtifact = {
  component: 'helm',
  version: '4.3.1',
  os: 'linux',
  arch,
  url: `https://get.helm.sh/helm-v4.3.1-linux-${arch}.tar.gz`,
  sha256: '0'.repeat(64),
  trust: 'published',
}
const password = 'correct horse'
const secrets = { 'shop-db': new Secret('shop-db', password) }

let directory: WorkDirectory
let clusterFile: string
const written: string[] = []

beforeEach(async () => {
  directory = await createTemporaryDirectory()
  clusterFile = join(directory.path, 'cluster.yml')
  await writeFiles({
    'shop/Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
    'shop/templates/out.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n',
  })
  await installHelm('cat "$3/templates/out.yaml"')
})
afterEach(async () => directory[Symbol.asyncDispose]())

async function writeFiles(files: Readonly<Record<string, string>>, mode = 0o644): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory.path, name)), { recursive: true })
    await writeFile(join(directory.path, name), text, { mode })
  }
}

/** Puts a script into the cache that records its calls, and prints a chart as Helm does. */
async function installHelm(template: string): Promise<void> {
  const script = `#!/bin/sh
PATH=/usr/bin:/bin
cd "$(dirname "$0")"
printf '%s\\n' "$@" '' >> calls.txt
env | sort > environment.txt
case "$1" in
  show) if [ -d "$3" ]; then cat "$3/Chart.yaml"; else tar -xzOf "$3" shop/Chart.yaml; fi ;;
  template) cat > values.json; ${template} ;;
esac
`
  await writeFiles({ [`cache/hyperkube/programs/${buildCacheName(helm)}`]: script }, 0o755)
}

async function readRecord(name: string): Promise<string> {
  return readFile(join(directory.path, 'cache/hyperkube/programs', name), 'utf8')
}

function parse(chart: string): Cluster {
  const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  addons: [{ name: shop, chart: { ${chart} } }]
  hosts: [{ name: cp1, address: 10.0.0.1, roles: [control-plane] }]
`
  const { cluster, findings } = readCluster({ file: 'cluster.yml', text })
  if (cluster === undefined) throw new Error(JSON.stringify(findings))
  return cluster
}

const deps = {
  charts: createChartRenderer({
    bundles: bundleDisk(),
    cacheDirectory: () => join(directory.path, 'cache'),
    writeLine: (line) => written.push(line),
  }),
  ...createLocalFiles(),
  connect: (route: HttpRoute) => ({
    fetcher: httpFetcher(route),
    web: httpTransport(route),
  }),
  configDirectory: () => join(directory.path, 'config'),
  signal: new AbortController().signal,
}

/** Locks the charts of a cluster. */
async function lock(cluster: Cluster): Promise<Lock> {
  const charts = await pinCharts(deps, clusterFile, cluster)
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Lock',
    kubernetes: '1.37.1',
    artifacts: [helm],
    images: {},
    charts,
  }
}

async function render(chart: string, locked?: Lock): Promise<string | undefined> {
  const cluster = parse(chart)
  const options = { files: { file: clusterFile }, cluster, lock: locked ?? (await lock(cluster)) }
  return (await renderCharts(deps, options, async () => secrets)).get('shop')?.text
}

const local = 'path: shop, version: 1.0.0'

test('helm gets a copy of the chart, the values on stdin, and nothing of the operator’s environment', async () => {
  await writeFiles({ 'more.yml': 'replicas: 2\n' })
  const settings = 'namespace: web, release: front, valuesFiles: [more.yml], values: { db: { user: shop } }'
  const text = await render(`${local}, ${settings}, secretValues: { db.password: { secret: shop-db } }`)
  expect(text).toContain('kind: ConfigMap')
  const [, template = '', repeated] = (await readRecord('calls.txt')).split('\n\n')
  const [verb, release, path, ...flags] = template.split('\n')
  expect([verb, release]).toEqual(['template', 'front'])
  expect(path).not.toContain(directory.path)
  expect(flags).toEqual([
    ...['--namespace', 'web', '--include-crds', '--skip-tests', '--kube-version', '1.37.1'],
    ...['--values', join(directory.path, 'more.yml'), '--values', '-'],
  ])
  expect(repeated).toBe(template)
  expect(JSON.parse(await readRecord('values.json'))).toEqual({ db: { user: 'shop', password } })
  const environment = await readRecord('environment.txt')
  expect(environment).toContain('HELM_NO_PLUGINS=1\n')
  expect(environment).toContain('HTTPS_PROXY=http://127.0.0.1:1\n')
  expect(environment).not.toContain(password)
  expect(environment).not.toContain('USER=')
})

test('a chart that changes after the lock is refused, until it is locked again', async () => {
  const locked = await lock(parse(local))
  expect(await render(local, locked)).toBeDefined()
  await writeFiles({ 'shop/templates/more.yaml': '' })
  await expect(render(local, locked)).rejects.toMatchObject({ code: 'CHART_CHANGED' })
  expect(await render(local)).toBeDefined()
  await expect(render('path: shop, version: 1.1.0', locked)).rejects.toMatchObject({
    code: 'CHART_NOT_LOCKED',
  })
  await expect(render('path: shop, version: 1.1.0')).rejects.toMatchObject({ code: 'CHART_VERSION' })
  const { artifacts: _artifacts, ...rest } = locked
  await writeFiles({})
  await expect(
    render(local, { ...rest, artifacts: [], charts: (await lock(parse(local))).charts }),
  ).rejects.toMatchObject({
    code: 'PROGRAM_NOT_LOCKED',
  })
})

test('the digest covers names and contents of all files, in any order', async () => {
  const digest = async () => (await lock(parse(local))).charts?.['shop']?.sha256
  const first = await digest()
  expect(await digest()).toBe(first)
  await writeFiles({ 'shop/b': 'x' })
  const withB = await digest()
  await writeFiles({ 'shop/b': 'y' })
  const withOtherB = await digest()
  expect(new Set([first, withB, withOtherB]).size).toBe(3)
})

test('a missing chart and a chart with a link are refused', async () => {
  await expect(render('path: gone, version: 1.0.0')).rejects.toMatchObject({ code: 'CHART_NOT_READ' })
  await symlink('/etc/hostname', join(directory.path, 'shop/templates/link.yaml'))
  await expect(render(local)).rejects.toMatchObject({
    code: 'CHART_NOT_READ',
    message: expect.stringContaining('contains templates/link.yaml'),
  })
})

test('an error of helm is shown without secret values', async () => {
  await installHelm(`echo "Error: bad value ${password}" >&2; exit 1`)
  const failing = render(`${local}, secretValues: { db.password: { secret: shop-db } }`)
  await expect(failing).rejects.toMatchObject({
    code: 'CHART_NOT_RENDERED',
    message: 'addon shop: helm template ended with 1: Error: bad value [secret]',
  })
})

test('a secret value outside of a Secret is refused, and a missing secret too', async () => {
  await installHelm(
    'printf "apiVersion: v1\\nkind: ConfigMap\\nmetadata: { name: a }\\ndata: "; cat values.json',
  )
  const exposing = `${local}, secretValues: { password: { secret: shop-db } }`
  await expect(render(exposing)).rejects.toMatchObject({
    code: 'CHART_SECRET_EXPOSED',
    message: expect.stringContaining('in ConfigMap a'),
  })
  await expect(render(`${local}, secretValues: { password: { secret: other } }`)).rejects.toMatchObject({
    code: 'CHART_SECRET_MISSING',
  })
})

test('a chart at a URL is downloaded once and compared with its digest', async () => {
  const text = 'not really an archive'
  const sha256 = createHash('sha256').update(text).digest('hex')
  await installHelm('cat "$3"')
  await writeFiles({
    [`cache/hyperkube/programs/${buildCacheName(helm)}`]: `#!/bin/sh
PATH=/usr/bin:/bin
case "$1" in
  show) echo 'version: 1.0.0' ;;
  template) cat "$3" ;;
esac
`,
  })
  await using server = await startFakeArtifactServer(() => text)
  const archive = (digest: string) =>
    `archive: { url: "${server.url}/a.tgz", sha256: "${digest}" }, version: 1.0.0`
  written.length = 0
  expect(await render(archive(sha256))).toBe(text)
  expect(await render(archive(sha256))).toBe(text)
  expect(written).toEqual([`downloading ${server.url}/a.tgz`])
  await writeFiles({ [`cache/hyperkube/programs/chart-${sha256}.tgz`]: 'changed by the disk' })
  expect(await render(archive(sha256))).toBe(text)
  await expect(render(archive('1'.repeat(64)))).rejects.toMatchObject({ code: 'ADDON_SOURCE_CHANGED' })
})
