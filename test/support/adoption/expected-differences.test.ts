import { expect, test } from 'vitest'
import { journeyDifferences, listMoveDifferences } from './expected-differences.ts'
import { type ObjectDifference, sortDifferences } from './object-dump.ts'

const changed = (object: string, path: string): ObjectDifference => ({ object, path, change: 'changed' })

test.each([
  changed('nodes  w1', 'spec.podCIDR'),
  changed('nodes  w1', 'spec.unschedulable'),
  changed('secrets workload word-1', 'data.word'),
  changed('deployments.apps workload web', 'spec.replicas'),
  { object: 'hosts.hyperkube.dev  cp1', path: '', change: 'removed' } as const,
])('$object $path: no rule expects it when a host moves', (difference) => {
  const rules = listMoveDifferences({ recreatesPods: true })
  expect(sortDifferences([difference], rules).unexpected).toHaveLength(1)
})

test('objects of hyperkube stay after a rollback, and the next move changes them', () => {
  const differences = [
    changed('hosts.hyperkube.dev  cp1', 'metadata.generation'),
    { object: 'hosts.hyperkube.dev  cp1', path: '', change: 'added' } as const,
  ]
  expect(sortDifferences(differences, listMoveDifferences({ recreatesPods: true })).unexpected).toEqual([])
})

test('pods may change only if their nodes create them again', () => {
  const pod = changed('pods workload store-0', 'metadata.uid')
  expect(sortDifferences([pod], listMoveDifferences({ recreatesPods: true })).unexpected).toEqual([])
  expect(sortDifferences([pod], listMoveDifferences({ recreatesPods: false })).unexpected).toHaveLength(1)
})

test('rotations and upgrades change default rules, restarted workloads and the published CA', () => {
  const differences = [
    changed('clusterroles.rbac.authorization.k8s.io  system:node', 'rules.3.verbs.0'),
    changed('roles.rbac.authorization.k8s.io kube-system system::leader-locking-x', 'rules.0.verbs.0'),
    changed('configmaps workload kube-root-ca.crt', 'data.ca.crt'),
    changed(
      'deployments.apps workload web',
      'spec.template.metadata.annotations.kubectl.kubernetes.io/restartedAt',
    ),
    changed('statefulsets.apps workload store', 'metadata.generation'),
    changed('statefulsets.apps workload store', 'spec.updateStrategy.rollingUpdate.maxUnavailable'),
    { object: 'servicecidrs.networking.k8s.io  kubernetes', path: '', change: 'added' } as const,
    {
      object: 'serviceaccounts kube-system podcertificaterequestcleaner',
      path: '',
      change: 'added',
    } as const,
  ]
  expect(sortDifferences(differences, journeyDifferences).unexpected).toEqual([])
  const wrong: readonly ObjectDifference[] = [
    changed('clusterroles.rbac.authorization.k8s.io  workload-ingress', 'rules.0.verbs.0'),
    changed('statefulsets.apps workload store', 'spec.replicas'),
    { object: 'serviceaccounts kube-system node-controller', path: '', change: 'removed' },
    { object: 'serviceaccounts workload node-controller', path: '', change: 'added' },
  ]
  expect(sortDifferences(wrong, journeyDifferences).unexpected).toHaveLength(wrong.length)
})
