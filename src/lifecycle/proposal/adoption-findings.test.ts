import { expect, test } from 'vitest'
import type { Op } from '../../contract/op.ts'
import { type AdoptedClusterState, checkAdoptedCluster } from './adoption-findings.ts'

const adoption = { from: 'kubeadm', observed: '2026-11-18T08:00:00.000Z', hosts: ['cp1'] } as const
const committed = { ...adoption, hosts: ['cp1'], committed: '2026-11-19T08:00:00.000Z' }
const pending: Op = {
  component: 'kubelet',
  stage: 'node',
  action: 'create',
  target: 'predecessor',
  name: 'kubelet.service',
  because: [],
}
const state: AdoptedClusterState = {
  identity: { adoption: { ...adoption, hosts: ['cp1'] } },
  ops: new Map([['cp1', [pending]]]),
  removed: [],
  desiredVersion: '1.36.4',
  versions: ['1.36.4'],
  commits: true,
}

const check = (changes: Partial<AdoptedClusterState>) =>
  checkAdoptedCluster({ ...state, ...changes }).map(({ code, message }) => `${code} ${message}`)

test('hosts of an adopted cluster may move', () => {
  expect(check({})).toEqual([])
})

test('until the commit, neither hosts nor the version may change', () => {
  expect(check({ removed: ['w1', 'w2'] })).toEqual([
    'ADOPT_NOT_COMMITTED w1 and w2 would be removed, but could not return to the other tool then',
  ])
  expect(check({ desiredVersion: '1.37.1' })).toEqual([
    'ADOPT_NOT_COMMITTED Kubernetes 1.37.1 would replace 1.36.4; hosts could not return to the other tool then',
  ])
})

test('after the commit both may change, but no host may be left behind', () => {
  const identity = { adoption: committed }
  const changes = { identity, removed: ['w1'], desiredVersion: '1.37.1' }
  expect(check({ ...changes, ops: new Map([['cp1', [{ ...pending, action: 'change' }]]]) })).toEqual([])
  expect(checkAdoptedCluster({ ...state, ...changes })).toMatchObject([
    { code: 'ADOPT_HOSTS_PENDING', severity: 'error', host: 'cp1' },
  ])
})

test('a host whose move was interrupted prevents the commit', () => {
  const began: Op = { ...pending, action: 'change' }
  const service = (action: Op['action'], because: string[] = []): Op => ({
    ...{ component: 'kubelet', stage: 'node', action, target: 'service', name: 'kubelet.service', because },
  })
  const changes = (op: Op) => ({ identity: { adoption: committed }, ops: new Map([['cp1', [began, op]]]) })
  for (const op of [service('create'), service('start'), service('restart', ['kubelet.service'])])
    expect(check(changes(op))).toEqual([
      'ADOPT_HOSTS_PENDING the host has not moved completely, so nothing can be committed',
    ])
  expect(check(changes(service('restart', ['/etc/hyperkube/kubelet/config.yaml'])))).toEqual([])
})

test('after the commit, up installs hosts again that were reset or replaced', () => {
  expect(check({ identity: { adoption: committed }, commits: false })).toEqual([])
})

test('until the commit, no host may be added', () => {
  expect(check({ ops: new Map([...state.ops, ['w9', [{ ...pending, target: 'service' }]]]) })).toEqual([
    'ADOPT_NOT_COMMITTED w9 would be added, and the other tool would not know it',
  ])
  const { hosts: _, ...allHosts } = adoption
  expect(check({ identity: { adoption: allHosts }, ops: new Map([['w9', [pending]]]) })).toEqual([])
})

test('other clusters have no such rules', () => {
  expect(check({ identity: {}, removed: ['w1'], desiredVersion: '1.37.1' })).toEqual([])
})
