import { expect, test } from 'vitest'
import { formatReferenceKey, type ObjectReference } from '../../addons/reference.ts'
import { parseAddonCluster } from '../../addons/testing/addon-input.ts'
import { checkExternalCrds, listExternalCrds } from './gateway-api.ts'

const installing = parseAddonCluster('  ingress: { gatewayApi: {} }\n')
const external = parseAddonCluster('  ingress: { gatewayApi: { crds: external } }\n')
const crds = listExternalCrds(external)

function buildLive(version: string, all: readonly ObjectReference[] = crds) {
  return new Map(
    all.map(({ apiVersion, kind, name }) => {
      const annotations = { 'gateway.networking.k8s.io/bundle-version': version }
      return [
        formatReferenceKey({ apiVersion, kind, name }),
        { apiVersion, kind, metadata: { name, annotations } },
      ]
    }),
  )
}

test('CRDs are checked only if the operator manages them', () => {
  expect(listExternalCrds(installing)).toEqual([])
  expect(crds).toHaveLength(6)
  expect(checkExternalCrds([], new Map())).toEqual([])
})

test('missing and older CRDs are refused, newer ones are not', () => {
  expect(checkExternalCrds(crds, new Map())).toMatchObject([
    { code: 'GATEWAY_API_MISSING', severity: 'error', message: expect.stringContaining('and 3 more') },
  ])
  for (const version of ['v1.3.1', 'v0.8.0', 'v2.0.0', 'main'])
    expect(checkExternalCrds(crds, buildLive(version))).toMatchObject([{ code: 'GATEWAY_API_MISSING' }])
  expect(checkExternalCrds(crds, buildLive('v1.4.0', crds.slice(1)))).toMatchObject([
    { message: expect.stringMatching(/: backendtlspolicies\.gateway\.networking\.k8s\.io is missing$/) },
  ])
  for (const version of ['v1.4.0', 'v1.4.1', 'v1.5.0', 'v1.10.0-rc.1'])
    expect(checkExternalCrds(crds, buildLive(version))).toEqual([])
})
