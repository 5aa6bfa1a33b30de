import { expect, test } from 'vitest'
import { clusterWith } from '../../plan/testing/fixtures.ts'
import { unenforced } from './policies.ts'

const cluster = clusterWith('{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }')
const policy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  namespace: 'shop',
  name: 'deny-all',
}

test('policies that nothing enforces are told of, once each', () => {
  expect(unenforced(cluster, [policy, policy])).toMatchObject([
    {
      code: 'NETWORK_POLICY_UNENFORCED',
      severity: 'warning',
      message: expect.stringMatching(/shop\/deny-all$/),
    },
  ])
})

test('not where there are none, or where somebody else’s network may do it', () => {
  expect(unenforced(cluster, [])).toEqual([])
  const { spec } = cluster
  const foreign = { ...cluster, spec: { ...spec, network: { ...spec.network, plugin: 'none' as const } } }
  expect(unenforced(foreign, [policy])).toEqual([])
})
