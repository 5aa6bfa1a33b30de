import { expect, test } from 'vitest'
import { compareServiceRuns, type ServiceRuns } from './service-runs.ts'

const runs = (...all: readonly (readonly [string, string, number])[]): ServiceRuns =>
  new Map(all.map(([name, invocation, restarts]) => [name, { invocation, restarts }]))

test('a restarted service is named, and restarts of leaders are counted', () => {
  const before = runs(
    ['cp1 etcd', 'a', 0],
    ['cp1 kube-apiserver', 'b', 3],
    ['cp1 kube-scheduler', 'c', 1],
    ['cp2 kube-controller-manager', 'd', 5],
  )
  expect(compareServiceRuns(before, before)).toEqual({ others: [], leaders: 0 })
  const after = runs(
    ['cp1 etcd', 'a', 0],
    ['cp1 kube-apiserver', 'x', 4],
    ['cp1 kube-scheduler', 'y', 3],
    ['cp2 kube-controller-manager', 'z', 0],
  )
  expect(compareServiceRuns(before, after)).toEqual({ others: ['cp1 kube-apiserver'], leaders: 3 })
})
