import { beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { fakeImages, fakeUpstream } from '../../catalog/testing/fake-upstream.ts'
import { fakeFetcher } from '../../catalog/testing/fake-fetcher.ts'
import { fakeImage, fakeRegistries } from '../../catalog/registry/testing/fake-registry.ts'
import { runHyperkube, type CliResult } from '../testing/run-in-memory.ts'

const cluster = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  dns: { forward: [192.0.2.53] }
  ingress: none
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
  addons:
    - { name: web, files: [web.yml] }
`
const web = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: web, annotations: { switch: "on" } }
---
apiVersion: v1
kind: Secret
metadata: { name: web, namespace: web, annotations: { note: aHVzaA== } }
data: { password: aHVzaA== }
stringData: { token: quiet }
---
apiVersion: v1
kind: Namespace
metadata: { name: web }
`
let files: Readonly<Record<string, string>>

beforeAll(async () => {
  const sites = fakeUpstream('1.37.1')
  const options = { fetcher: fakeFetcher((url) => sites.get(url)), web: fakeRegistries(fakeImages()) }
  files = Object.fromEntries(
    (await runHyperkube('lock', { 'cluster.yml': cluster, 'web.yml': web }, options)).files,
  )
})

/** Lists the objects that a run printed, as one line each. */
function listShown({ code, stdout, stderr }: CliResult): string[] {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return parseAllDocuments(stdout, { version: '1.1' }).map((document) => {
    const { kind, metadata } = Object(document.toJS())
    return `${metadata.labels['hyperkube.dev/addon']}: ${kind} ${metadata.name}`
  })
}

describe('addon show', () => {
  test('prints the objects of all addons in the order of waves, without hosts, API or identity', async () => {
    const shown = listShown(await runHyperkube('addon show', files))
    const addons = shown.map((line) => line.slice(0, line.indexOf(':')))
    expect([...new Set(addons)]).toEqual(['coredns', 'metrics-server', 'local-path', 'web'])
    expect(addons.toSorted((a, b) => addons.indexOf(a) - addons.indexOf(b))).toEqual(addons)
    expect(shown.filter((line) => line.startsWith('metrics-server')).slice(-2)).toEqual([
      'metrics-server: Deployment metrics-server',
      'metrics-server: APIService v1beta1.metrics.k8s.io',
    ])
  })

  test('prints pinned images and the settings of cluster.yml', async () => {
    const { stdout } = await runHyperkube('addon show coredns', files)
    const image = 'registry.k8s.io/coredns/coredns:v1.15.0'
    expect(stdout).toContain(`image: ${image}@${fakeImage(image).digest}\n`)
    expect(stdout).toContain('forward . 192.0.2.53 {\n')
  })

  test('prints a Secret without its values', async () => {
    const { stdout } = await runHyperkube('addon show web', files)
    expect(stdout).toMatchInlineSnapshot(`
      "# addon web
      apiVersion: v1
      kind: Namespace
      metadata:
        name: web
        labels:
          hyperkube.dev/addon: web
      ---
      # addon web, without its values
      apiVersion: v1
      kind: Secret
      metadata:
        name: web
        namespace: web
        labels:
          hyperkube.dev/addon: web
        annotations:
          note: ""
      data:
        password: ""
      stringData:
        token: ""
      ---
      # addon web
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
        namespace: web
        annotations:
          switch: "on"
        labels:
          hyperkube.dev/addon: web
      "
    `)
  })

  test('prints one List with -o json, without secret values', async () => {
    const { stdout } = await runHyperkube('addon show metrics-server web -o json', files)
    expect(stdout).not.toContain('aHVzaA==')
    const { kind, items } = JSON.parse(stdout)
    expect(kind).toBe('List')
    expect(items).toContainEqual(
      expect.objectContaining({ kind: 'Secret', data: { 'tls.crt': '', 'tls.key': '' } }),
    )
  })

  test('prints nothing for a disabled addon and an error for an unknown addon', async () => {
    expect(await runHyperkube('addon show traefik', files)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'traefik is disabled in cluster.yml\n',
    })
    const unknown = await runHyperkube('addon show corends', files)
    expect(unknown.code).toBe(1)
    expect(unknown.stderr).toContain('ADDON_UNKNOWN: there is no addon corends\n  → did you mean coredns?')
  })

  test('needs the hosts only for CoreDNS without configured forward servers', async () => {
    const following = { ...files, 'cluster.yml': cluster.replace('  dns: { forward: [192.0.2.53] }\n', '') }
    const { code, stdout, stderr } = await runHyperkube('addon show', following)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('IDENTITY_NOT_READ')
    expect((await runHyperkube('addon show metrics-server local-path web', following)).code).toBe(0)
  })

  test('reports an invalid manifest source and prints no objects', async () => {
    const { code, stdout, stderr } = await runHyperkube('addon show', {
      ...files,
      'web.yml': 'kind: Secret\n',
    })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('ADDON_SOURCE_NOT_MANIFEST')
  })
})

test('addon disable with two names is a usage error', async () => {
  expect(await runHyperkube('addon disable coredns traefik', files)).toMatchObject({ code: 2, stdout: '' })
})
