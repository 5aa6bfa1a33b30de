import { expect, test } from 'vitest'
import { readCluster } from './read-cluster.ts'

const sha256 = 'a'.repeat(64)

/** Reads a cluster.yml with one addon, and returns the addon or the findings as texts. */
function readAddon(addon: string) {
  const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  addons: [{ name: shop, ${addon} }]
  hosts: [{ name: cp1, address: 10.0.0.1, roles: [control-plane] }]
`
  const { cluster, findings } = readCluster({ file: 'cluster.yml', text })
  return cluster?.spec.addons[0] ?? findings.map(({ path, message }) => `${path ?? ''} ${message}`)
}

test('a chart is a path or an archive with a digest, and has defaults for the rest', () => {
  expect(readAddon('chart: { path: charts/shop, version: 1.0.0 }')).toMatchObject({
    files: [],
    chart: {
      path: 'charts/shop',
      version: '1.0.0',
      namespace: 'default',
      valuesFiles: [],
      values: {},
      secretValues: {},
      hooks: 'refuse',
    },
  })
  const archive = { url: 'https://charts.example/shop.tgz', sha256 }
  const chart = { archive, version: '1.0.0', secretValues: { 'db.password': { secret: 'shop-db' } } }
  expect(readAddon(`chart: ${JSON.stringify(chart)}`)).toMatchObject({ chart })
})

test.each([
  ['chart: { version: 1.0.0 }', 'needs either path or archive'],
  [
    `chart: { path: a, archive: { url: "https://a.example/a.tgz", sha256: "${sha256}" }, version: 1.0.0 }`,
    'needs either path or archive',
  ],
  ['chart: { archive: { url: "https://a.example/a.tgz" }, version: 1.0.0 }', 'sha256'],
  ['chart: { archive: { url: "oci://a.example/a", sha256: "0" }, version: 1.0.0 }', 'http or https URL'],
  ['chart: { path: a }', 'version'],
  ['chart: { path: a, version: 1.0.0 }, files: [a.yml]', 'must not have files, urls or inline'],
  ['chart: { path: a, version: 1.0.0, hooks: run }', 'hooks'],
  ['chart: { path: a, version: 1.0.0, secretValues: { "a..b": { secret: x } } }', 'is not a valid value'],
  ['chart: { path: a, version: 1.0.0, secretValues: { a: plain } }', 'secretValues'],
  [
    'chart: { path: a, version: 1.0.0, secretValues: { a.b: { secret: x }, a: { secret: y } } }',
    'must not set a value and a part of it',
  ],
  ['chart: { path: a, version: 1.0.0, release: Shop }', 'release'],
  ['wait: true', 'needs files, urls, inline or chart'],
])('%s is refused', (addon, message) => {
  const findings = readAddon(addon)
  expect(Array.isArray(findings) ? findings.join('\n') : findings).toContain(message)
})
