import { expect, test } from 'vitest'
import { buildTestCluster } from '../../plan/testing/fixtures.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { checkPolicyEnforcement } from './proposal.ts'

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
