import { beforeAll, expect, test } from 'vitest'
import { applyAddon } from '../../addons/apply-addon.ts'
import { buildAddonInputFixture, parseAddonCluster } from '../../addons/testing/addon-input.ts'
import { createAddonTestBench } from '../../addons/testing/addon-test-bench.ts'
import { buildConfigMap, buildNamespace } from '../../addons/testing/manifests.ts'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { buildTestCluster } from '../../plan/testing/fixtures.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { checkPolicyEnforcement, compareAddons } from './proposal.ts'

let ca: TestCa
const createBench = createAddonTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

const enforcing = buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }')
const policy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  namespace: 'shop',
  name: 'deny-all',
}

function withNetwork(settings: Partial<Cluster['spec']['network']>): Cluster {
  const { spec } = enforcing
  return { ...enforcing, spec: { ...spec, network: { ...spec.network, ...settings } } }
}

test('an unenforced NetworkPolicy is reported once', () => {
  expect(checkPolicyEnforcement(withNetwork({ policy: 'none' }), [policy, policy], 'enforced')).toMatchObject(
    [
      {
        code: 'NETWORK_POLICY_UNENFORCED',
        severity: 'warning',
        message: expect.stringMatching(/shop\/deny-all$/),
      },
    ],
  )
})

test('policies that begin to be enforced in an existing cluster are reported', () => {
  expect(checkPolicyEnforcement(enforcing, [policy], 'not-enforced')).toMatchObject([
    {
      code: 'NETWORK_POLICY_BEGINS',
      severity: 'warning',
      message: 'these NetworkPolicies had no effect and will be enforced: NetworkPolicy shop/deny-all',
    },
  ])
  expect(checkPolicyEnforcement(enforcing, [policy], 'enforced')).toEqual([])
  expect(checkPolicyEnforcement(enforcing, [policy], 'new-cluster')).toEqual([])
})

test('no finding without policies, or with a network plugin of the operator', () => {
  expect(checkPolicyEnforcement(withNetwork({ policy: 'none' }), [], 'enforced')).toEqual([])
  expect(checkPolicyEnforcement(withNetwork({ plugin: 'none' }), [policy], 'not-enforced')).toEqual([])
})

test('objects in a namespace of an earlier addon are not refused, and its removal comes last', async () => {
  const { api, client, options } = await createBench()
  api.onRequest = ({ path }) =>
    path.endsWith('/networkpolicies') ? { json: { metadata: {}, items: [] } } : undefined
  const base = { name: 'old', manifests: [buildNamespace('old'), buildConfigMap('old')] }
  const user = { name: 'user', manifests: [buildConfigMap('c', 'x', 'old')] }
  for (const addon of [base, user]) await applyAddon(client, addon, options)
  const cluster = parseAddonCluster(`  dns: none
  metrics: none
  ingress: none
  storage: none
  addons:
    - name: base
      inline: [{ apiVersion: v1, kind: Namespace, metadata: { name: shop } }]
    - name: app
      inline: [{ apiVersion: v1, kind: ConfigMap, metadata: { name: c, namespace: shop } }]
`)
  const { differences, findings } = await compareAddons(client, buildAddonInputFixture(cluster))
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(differences.map(({ addon }) => addon)).toEqual(['base', 'app', 'user', 'old'])
})
