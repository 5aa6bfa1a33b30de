import { expect, test } from 'vitest'
import { isAddonDown, readReadiness } from './addon-readiness.ts'

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'a' },
  status: { phase: 'Pending' },
}

function buildDeployment(name: string, availableReplicas: number) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'a' },
    spec: { replicas: 2 },
    status: { replicas: 2, updatedReplicas: 2, availableReplicas },
  }
}

test('the workload without ready pods is reported first, and the addon is down', () => {
  const readiness = readReadiness([claim, buildDeployment('one', 1), buildDeployment('none', 0)], 0)
  expect(readiness).toEqual({
    ready: false,
    reason: 'Deployment a/none: 0 of 2 replicas are available',
    workload: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'a',
      name: 'none',
      ready: 0,
      desired: 2,
    },
  })
  expect(isAddonDown({ name: 'a', ...readiness })).toBe(true)
})

test('of several workloads without ready pods, a DaemonSet is reported', () => {
  const daemonSet = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'a' },
    status: { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 0 },
  }
  expect(readReadiness([buildDeployment('none', 0), daemonSet], 0).workload?.name).toBe('agent')
})

test('an addon with ready pods, or that waits only for another object, is not down', () => {
  const partly = readReadiness([buildDeployment('one', 1)], 0)
  expect(partly).toMatchObject({ ready: false, workload: { ready: 1, desired: 2 } })
  const pending = readReadiness([claim, buildDeployment('all', 2)], 0)
  expect(pending).toEqual({ ready: false, reason: 'PersistentVolumeClaim a/data: it has no volume yet' })
  expect([partly, pending].map((one) => isAddonDown({ name: 'a', ...one }))).toEqual([false, false])
  expect(readReadiness([buildDeployment('all', 2)], 0)).toEqual({ ready: true })
})
