import { expect, test } from 'vitest'
import { countPods, findUnreadyReason } from './readiness.ts'

function object(type: string, spec: object, status: object, metadata: object = {}) {
  const [apiVersion = '', kind = ''] = type.split(' ')
  return { apiVersion, kind, metadata: { name: 'x', generation: 2, ...metadata }, spec, status }
}

const observed = { observedGeneration: 2 }
const readyDeployment = { ...observed, replicas: 2, updatedReplicas: 2, availableReplicas: 2 }
const readyDaemonSet = {
  ...observed,
  desiredNumberScheduled: 3,
  updatedNumberScheduled: 3,
  numberAvailable: 3,
}
const readyStatefulSet = { ...observed, replicas: 2, updatedReplicas: 2, readyReplicas: 2 }
const two = { replicas: 2 }
const condition = (type: string, status: string, message?: string) => ({
  conditions: [{ type, status, message }],
})
const crd = 'apiextensions.k8s.io/v1 CustomResourceDefinition'
const sts = 'apps/v1 StatefulSet'

test.each([
  ['apps/v1 Deployment', two, readyDeployment],
  ['apps/v1 Deployment', { replicas: 0 }, observed],
  ['apps/v1 DaemonSet', {}, readyDaemonSet],
  [
    'apps/v1 DaemonSet',
    { updateStrategy: { type: 'OnDelete' } },
    { ...readyDaemonSet, updatedNumberScheduled: 0 },
  ],
  [sts, two, readyStatefulSet],
  [
    sts,
    { ...two, updateStrategy: { rollingUpdate: { partition: 1 } } },
    { ...readyStatefulSet, updatedReplicas: 1 },
  ],
  [crd, {}, condition('Established', 'True')],
  ['apiregistration.k8s.io/v1 APIService', {}, condition('Available', 'True')],
  ['v1 Namespace', {}, { phase: 'Active' }],
  ['v1 PersistentVolumeClaim', {}, { phase: 'Bound' }],
  ['v1 Service', {}, {}],
])('%s with spec %j and status %j is ready', (type, spec, status) => {
  expect(findUnreadyReason(object(type, spec, status))).toBeUndefined()
})

test.each([
  [
    'apps/v1 Deployment',
    two,
    { ...readyDeployment, observedGeneration: 1 },
    'its controller has not processed it yet',
  ],
  ['apps/v1 Deployment', {}, {}, 'its controller has not processed it yet'],
  ['apps/v1 Deployment', two, { ...readyDeployment, updatedReplicas: 1 }, '1 of 2 replicas are updated'],
  ['apps/v1 Deployment', two, { ...readyDeployment, replicas: 3 }, '1 old replicas are still running'],
  ['apps/v1 Deployment', two, { ...readyDeployment, availableReplicas: 0 }, '0 of 2 replicas are available'],
  [
    'apps/v1 Deployment',
    two,
    { ...readyDeployment, ...condition('ReplicaFailure', 'True', 'quota') },
    'quota',
  ],
  [
    'apps/v1 DaemonSet',
    {},
    { ...readyDaemonSet, updatedNumberScheduled: 1 },
    '1 of 3 nodes have the new pod',
  ],
  ['apps/v1 DaemonSet', {}, { ...readyDaemonSet, numberAvailable: 2 }, '2 of 3 nodes have an available pod'],
  [sts, two, { ...readyStatefulSet, updatedReplicas: 1 }, '1 of 2 replicas are updated'],
  [sts, two, { ...readyStatefulSet, readyReplicas: 1 }, '1 of 2 replicas are ready'],
  [crd, {}, {}, 'it is not Established yet'],
  [crd, {}, { conditions: null }, 'it is not Established yet'],
  [crd, {}, condition('NamesAccepted', 'False', 'the name is taken'), 'the name is taken'],
  [
    'apiregistration.k8s.io/v1 APIService',
    {},
    condition('Available', 'False', 'no endpoints'),
    'no endpoints',
  ],
  ['v1 Namespace', {}, { phase: 'Terminating' }, 'it is Terminating'],
  ['v1 PersistentVolumeClaim', {}, { phase: 'Pending' }, 'it has no volume yet'],
])('%s with spec %j and status %j is not ready', (type, spec, status, reason) => {
  expect(findUnreadyReason(object(type, spec, status))).toBe(reason)
})

test('an object that is being deleted is not ready', () => {
  const removing = object('v1 Service', {}, {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })
  expect(findUnreadyReason(removing)).toBe('the previous object is still being deleted')
})

test.each([
  ['apps/v1 Deployment', two, { ...readyDeployment, availableReplicas: 1 }, { ready: 1, desired: 2 }],
  ['apps/v1 Deployment', {}, {}, { ready: 0, desired: 1 }],
  ['apps/v1 DaemonSet', {}, { ...readyDaemonSet, numberAvailable: 2 }, { ready: 2, desired: 3 }],
  [sts, two, readyStatefulSet, { ready: 2, desired: 2 }],
  ['v1 Service', {}, {}, undefined],
])('pods are counted for %s with spec %j and status %j', (type, spec, status, pods) => {
  expect(countPods(object(type, spec, status))).toEqual(pods)
})
