import { expect, test } from 'vitest'
import { buildTestCluster } from '../../plan/testing/fixtures.ts'
import { checkPolicyEnforcement } from './proposal.ts'

const cluster = buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }')
const policy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  namespace: 'shop',
  name: 'deny-all',
}

test('an unenforced NetworkPolicy is reported once', () => {
  expect(checkPolicyEnforcement(cluster, [policy, policy])).toMatchObject([
    {
      code: 'NETWORK_POLICY_UNENFORCED',
      severity: 'warning',
      message: expect.stringMatching(/shop\/deny-all$/),
    },
  ])
})

test('no finding without policies, or with a network plugin of the operator', () => {
  expect(checkPolicyEnforcement(cluster, [])).toEqual([])
  const { spec } = cluster
  const foreign = { ...cluster, spec: { ...spec, network: { ...spec.network, plugin: 'none' as const } } }
  expect(checkPolicyEnforcement(foreign, [policy])).toEqual([])
})
