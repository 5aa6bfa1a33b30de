import { expect, test } from 'vitest'
import { listPlannedEndpoints } from '../../lifecycle/inputs/host-endpoints.ts'
import { listServiceNames } from '../../lifecycle/observe/services.ts'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, parseTestCluster } from '../../plan/testing/fixtures.ts'
import { allServices } from './all-services.ts'

test('the logs of every service of a plan can be selected', () => {
  const cluster = parseTestCluster(`apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  api: { virtualIP: 10.0.0.10 }
  hosts:
    - { name: cp1, address: 10.0.0.11, roles: [control-plane, worker] }
`)
  const { plans } = planCluster(buildPlanInput(cluster))
  const names = listPlannedEndpoints(plans).flatMap(listServiceNames)
  expect(names).toEqual(expect.arrayContaining(['kube-router', 'hyperkube-keepalived']))
  expect(names.filter((name) => !allServices.includes(name))).toEqual([])
})
