import { expect, test } from 'vitest'
import { findKubernetesRelease } from '../catalog/catalog.ts'
import { planCluster } from './plan.ts'
import { buildPlanInput, buildTestCluster, buildTestLock, parseTestCluster } from './testing/fixtures.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'

const [older, newer] = ['1.36.4', '1.37.1'] as const

function plan(kubernetes: string, workers?: string) {
  const cluster = parseTestCluster(`apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: ${kubernetes}
  ${workers === undefined ? '' : `workers: { kubernetes: ${workers} }`}
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
    - { name: both, address: 10.0.0.2, roles: [control-plane, worker] }
    - { name: cp3, address: 10.0.0.3, roles: [control-plane] }
    - { name: w1, address: 10.0.0.4, roles: [worker] }
`)
  const input = buildPlanInput(cluster)
  const { apiVersion: _, kind: __, ...pins } = buildTestLock(workers ?? kubernetes)
  const { plans, findings } = planCluster(
    workers === undefined
      ? input
      : {
          ...input,
          workersRelease: findKubernetesRelease(shippedCatalog, workers),
          lock: { ...input.lock, workers: pins },
        },
  )
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  return Object.fromEntries(plans.map((one) => [one.host, one]))
}

test('only hosts without another role than worker get the older version, and get it completely', () => {
  const [mixed, before, after] = [plan(newer, older), plan(older), plan(newer)]
  expect(mixed['w1']).toEqual(before['w1'])
  expect(mixed['w1']).not.toEqual(after['w1'])
  for (const host of ['cp1', 'both', 'cp3']) expect(mixed[host]).toEqual(after[host])
})

test('without pins of the older version the lock does not fit', () => {
  const input = buildPlanInput(buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }'))
  const { findings } = planCluster({ ...input, workersRelease: findKubernetesRelease(shippedCatalog, older) })
  expect(findings.map(({ code }) => code)).toContain('LOCK_OTHER_KUBERNETES')
})
