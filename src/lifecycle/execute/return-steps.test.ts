import { expect, test } from 'vitest'
import { createFakeClusterClient } from '../testing/fake-cluster-client.ts'
import { buildReturnSteps, findBrokenHosts, type HostToReturn } from './return-steps.ts'

const controlPlane = (name: string): HostToReturn => ({ name, isMember: true, isControlPlane: true })
const worker = (name: string): HostToReturn => ({ name, isMember: false, isControlPlane: false })
const members = ['cp1', 'cp2', 'cp3']
const hosts = [worker('w1'), controlPlane('cp3'), controlPlane('cp2'), controlPlane('cp1')]

test('workers return without a condition on etcd, control planes only while etcd keeps its quorum', () => {
  const steps = buildReturnSteps(hosts, members, new Set())
  expect(steps.map(({ host }) => host)).toEqual(['w1', 'cp3', 'cp2', 'cp1'])
  expect(steps[0]).toEqual({
    host: 'w1',
    before: [],
    after: [{ kind: 'nodes-ready', hosts: ['w1'] }],
    checked: ['w1'],
  })
  expect(steps[1]).toEqual({
    host: 'cp3',
    before: [{ kind: 'etcd-quorum-without', host: 'cp3', members }],
    after: [
      { kind: 'etcd-healthy', members: ['cp3'] },
      { kind: 'api-ready', hosts: ['cp3'] },
      { kind: 'nodes-ready', hosts: ['cp3'] },
    ],
    checked: ['cp3'],
  })
})

test('a control plane whose move was interrupted returns before all others, which wait for it', () => {
  const steps = buildReturnSteps(hosts, members, new Set(['cp1']))
  expect(steps.map(({ host }) => host)).toEqual(['cp1', 'w1', 'cp3', 'cp2'])
  expect(steps[0]?.before).toEqual([])
  expect(steps[0]?.after[0]).toEqual({ kind: 'etcd-healthy', members: ['cp1'] })
})

test('broken control planes return together, because none of them is healthy without a majority', () => {
  const steps = buildReturnSteps(hosts, members, new Set(['cp1', 'cp2']))
  expect(steps.map(({ host, after, checked }) => [host, after.length, checked.length])).toEqual([
    ['cp2', 0, 0],
    ['cp1', 3, 2],
    ['w1', 1, 1],
    ['cp3', 3, 1],
  ])
  expect(steps[1]?.after[0]).toEqual({ kind: 'etcd-healthy', members: ['cp2', 'cp1'] })
})

test('the only member needs no quorum without itself', () => {
  expect(buildReturnSteps([controlPlane('cp1')], ['cp1'], new Set())[0]?.before).toEqual([])
})

test('a host is broken if its etcd member or its API server does not respond', async () => {
  const client = createFakeClusterClient({
    etcdHealthy: async ([host]) => (host === 'cp1' ? 'it does not respond' : undefined),
    apiReady: async ([host]) => {
      if (host === 'cp2') throw new Error('connection refused')
      return undefined
    },
  })
  expect(await findBrokenHosts(hosts, client)).toEqual(new Set(['cp1', 'cp2']))
})
