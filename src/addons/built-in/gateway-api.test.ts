import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import type { Manifest } from '../../kube/object.ts'
import { isEmptyDifference } from '../addon-difference.ts'
import type { Addon } from '../addon.ts'
import { applyAddon, removeAddon } from '../apply-addon.ts'
import { listDesiredAddons } from '../desired-addons.ts'
import { diffAddon } from '../diff-addon.ts'
import { readInventories } from '../inventory-store.ts'
import { buildAddonInputFixture, parseAddonCluster } from '../testing/addon-input.ts'
import { createAddonTestBench } from '../testing/addon-test-bench.ts'
import { gatewayApiVersion, readGatewayApiCrds } from './gateway-api.ts'

let ca: TestCa
const createBench = createAddonTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

function buildTraefik(settings = ''): Addon {
  const cluster = parseAddonCluster(`  ingress: { ${settings} }\n`)
  const { addons } = listDesiredAddons(buildAddonInputFixture(cluster))
  const addon = addons.find(({ name }) => name === 'traefik')
  if (addon === undefined) throw new Error('traefik is disabled')
  // The fake API has no controller that would start the pods of a DaemonSet.
  return { ...addon, manifests: addon.manifests.filter(({ kind }) => kind !== 'DaemonSet') }
}

const isDefinition = ({ kind }: Manifest): boolean => kind === 'CustomResourceDefinition'
const route: Manifest = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'shop', namespace: 'default' },
  spec: { parentRefs: [{ name: 'traefik' }] },
}

test('both providers add a class each, RBAC rules and flags', async () => {
  const cluster = parseAddonCluster(
    '  ingress: { gatewayApi: { defaultGateway: true }, nginxAnnotations: true }\n',
  )
  const { addons, findings } = listDesiredAddons(buildAddonInputFixture(cluster))
  expect(findings).toEqual([])
  const manifests = addons.flatMap((addon) => (addon.name === 'traefik' ? addon.manifests : []))
  expect(manifests.filter(isDefinition).map(({ metadata }) => metadata.name)).toEqual([
    'backendtlspolicies.gateway.networking.k8s.io',
    'gatewayclasses.gateway.networking.k8s.io',
    'gateways.gateway.networking.k8s.io',
    'grpcroutes.gateway.networking.k8s.io',
    'httproutes.gateway.networking.k8s.io',
    'referencegrants.gateway.networking.k8s.io',
  ])
  const text = manifests.filter((manifest) => !isDefinition(manifest)).map((manifest) => stringify(manifest))
  await expect(text.join('---\n')).toMatchFileSnapshot('../testdata/traefik.gateway.yml')
})

test('external CRDs are not part of the addon, and the default Gateway is optional', () => {
  const kinds = (settings: string) => new Set(buildTraefik(settings).manifests.map(({ kind }) => kind))
  expect(kinds('gatewayApi: { crds: external }')).toContain('GatewayClass')
  expect(kinds('gatewayApi: { crds: external }')).not.toContain('CustomResourceDefinition')
  expect(kinds('gatewayApi: {}')).not.toContain('Gateway')
})

test('the CRDs have the version of the Go module that Traefik is built with', () => {
  const directory = join(import.meta.dirname, '../../../lab/components/go/traefik/v3.6.12')
  const sums = readFileSync(join(directory, 'go.sum'), 'utf8')
  expect(sums).toContain(`sigs.k8s.io/gateway-api ${gatewayApiVersion} h1:`)
  for (const { metadata, ...fields } of readGatewayApiCrds()) {
    expect(metadata['annotations']).toMatchObject({
      'gateway.networking.k8s.io/bundle-version': gatewayApiVersion,
      'gateway.networking.k8s.io/channel': 'standard',
    })
    expect(Object.keys(fields)).toEqual(['apiVersion', 'kind', 'spec'])
  }
})

test('CRDs and routes of users stay when the provider or the addon is switched off', async () => {
  const bench = await createBench()
  const [enabled, disabled] = [buildTraefik('gatewayApi: { defaultGateway: true }'), buildTraefik()]
  await applyAddon(bench.client, enabled, bench.options)
  bench.api.user('kubectl', route)

  const { removed, findings } = await applyAddon(bench.client, disabled, bench.options)
  expect(removed.map(({ kind, name }) => `${kind} ${name}`).toSorted()).toEqual([
    'Gateway traefik',
    'GatewayClass traefik',
  ])
  expect(findings.map(({ code }) => code)).toEqual(Array.from({ length: 6 }, () => 'ADDON_OBJECT_LEFT'))
  expect(findings[0]?.hint).toMatch(/kubectl delete .* which also deletes all its objects$/)
  expect(isEmptyDifference(await diffAddon(bench.client, disabled, { others: [] }))).toBe(true)

  await applyAddon(bench.client, enabled, bench.options)
  await removeAddon(bench.client, 'traefik', bench.options)
  expect(await readInventories(bench.client)).toEqual([])
  for (const { apiVersion, kind, metadata } of [...readGatewayApiCrds(), route])
    expect(bench.api.get({ apiVersion, kind, ...metadata })).toBeDefined()
})

test('CRDs of the same version are shared with another program, others are refused', async () => {
  const bench = await createBench()
  const [first, ...others] = readGatewayApiCrds()
  if (first === undefined) throw new Error('there are no CRDs')
  const annotations = { 'gateway.networking.k8s.io/bundle-version': 'v1.5.0' }
  for (const manifest of others) bench.api.user('kubectl', manifest)
  await applyAddon(bench.client, buildTraefik('gatewayApi: {}'), bench.options)
  await removeAddon(bench.client, 'traefik', bench.options)

  bench.api.user('kubectl', { ...first, metadata: { ...first.metadata, annotations } })
  await expect(applyAddon(bench.client, buildTraefik('gatewayApi: {}'), bench.options)).rejects.toMatchObject(
    {
      code: 'GATEWAY_API_FOREIGN',
      message: expect.stringContaining('is set by kubectl'),
      hint: expect.stringContaining('spec.ingress.gatewayApi.crds: external'),
    },
  )
})
