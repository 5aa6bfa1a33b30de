import { expect, test } from 'vitest'
import { isRenewable } from '../pki/check-renewal.ts'
import { planCluster } from './plan.ts'
import { buildPlanInput, buildTestCluster } from './testing/fixtures.ts'

const { plans } = planCluster(
  buildPlanInput(
    buildTestCluster(
      '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
      '{ name: db1, address: 10.0.0.2, roles: [etcd, worker] }',
      '{ name: w1, address: 10.0.0.3, roles: [worker] }',
      '{ name: w2, address: 10.0.0.4, roles: [worker], nodeName: other }',
      '{ name: win1, address: 10.0.0.5, roles: [worker], os: windows }',
    ),
  ),
)

test.each(plans.filter(({ roles }) => !roles.includes('control-plane')))(
  'a node without keys of authorities may ask for all that it has: $host',
  ({ node, components }) => {
    const all = components.flatMap(({ certificates }) => certificates)
    expect(all.length).toBeGreaterThan(3)
    const requester = `system:node:${node?.name}`
    expect(all.filter(({ ca, subject }) => !isRenewable(ca, subject, requester))).toEqual([])
  },
)
