import { expect, test } from 'vitest'
import { bundleFormat, type BundleManifest } from '../bundle/manifest.ts'
import type { Lock } from '../catalog/lock.ts'
import { readVersioned } from '../contract/versioned.ts'
import { readCluster } from '../spec/read-cluster.ts'
import { checkBundledCharts, findUnpinnedChart, listCharts, pinCharts } from './pin-charts.ts'

const [a, b] = ['a'.repeat(64), 'b'.repeat(64)]
const url = 'https://charts.example/web.tgz'
const { cluster } = readCluster({
  file: 'cluster.yml',
  text: `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  addons:
    - { name: web, chart: { archive: { url: "${url}", sha256: "${a}" }, version: 2.0.0 } }
    - { name: shop, chart: { path: charts/shop, version: 1.0.0 } }
    - { name: "off", enabled: false, chart: { path: gone, version: 1.0.0 } }
    - { name: plain, files: [a.yml] }
  hosts: [{ name: cp1, address: 10.0.0.1, roles: [control-plane] }]
`,
})
if (cluster === undefined) throw new Error('cluster.yml is not valid')
const emptyLock: Lock = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'Lock',
  kubernetes: '1.37.1',
  artifacts: [],
  images: {},
}

test('enabled charts are pinned: archives by cluster.yml, others by the digest of their files', async () => {
  const paths: string[] = []
  const charts = {
    computeDigest: async (path: string) => {
      paths.push(path)
      return b
    },
    render: async () => Promise.reject(new Error('nothing is rendered')),
  }
  const { signal } = new AbortController()
  const pins = await pinCharts({ charts, signal }, '/srv/cluster.yml', cluster)
  expect(pins).toEqual({ web: { version: '2.0.0', url, sha256: a }, shop: { version: '1.0.0', sha256: b } })
  expect(paths).toEqual(['/srv/charts/shop'])
  const none = { ...cluster, spec: { ...cluster.spec, addons: [] } }
  expect(await pinCharts({ charts, signal }, '/srv/cluster.yml', none)).toBeUndefined()
})

test('a lock without a chart, or with another version, URL or digest, is found', () => {
  const pins = { shop: { version: '1.0.0', sha256: b } }
  const find = (charts: Lock['charts']) => findUnpinnedChart({ ...emptyLock, charts }, pins)
  expect(find({ ...pins, other: { version: '1.0.0', sha256: a } })).toBeUndefined()
  const message = 'the lock has another chart, or none, for addon shop'
  expect(find(undefined)).toBe(message)
  expect(find({ shop: { ...pins.shop, version: '1.0.1' } })).toBe(message)
  expect(find({ shop: { ...pins.shop, sha256: a } })).toBe(message)
  expect(find({ shop: { ...pins.shop, url } })).toBe(message)
})

test('a bundle without the archive of a chart is refused', () => {
  const withMembers = (members: BundleManifest['members']): BundleManifest =>
    readVersioned(bundleFormat, {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'Bundle',
      cluster: 'shop',
      lock: emptyLock,
      images: [],
      members,
    })
  const member = { path: `charts/${a}.tgz`, sha256: a, size: 1 }
  expect(() => checkBundledCharts(withMembers([member]), cluster)).not.toThrow()
  expect(() => checkBundledCharts(withMembers([]), cluster)).toThrow('the bundle has no chart for addon web')
  expect(listCharts(cluster).map(({ addon }) => addon)).toEqual(['web', 'shop'])
})
