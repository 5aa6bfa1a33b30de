import { expect, test } from 'vitest'
import { createFakeClusterClient } from '../testing/fake-cluster-client.ts'
import { buildReturnSteps, type HostToReturn, readReturnState, type ReturnState } from './return-steps.ts'

const controlPlane = (name: string): HostToReturn => ({ name, isMember: true, isControlPlane: true })
const worker = (name: string): HostToReturn => ({ name, isMember: false, isControlPlane: false })
const members = ['cp1', 'cp2', 'cp3']
const hosts = [worker('w1'), controlPlane('cp3'), controlPlane('cp2'), controlPlane('cp1')]

/** The state of a cluster in which these etcd members and API servers do not respond. */
const broken = (
  brokenMembers: readonly string[],
  brokenServers: readonly string[] = brokenMembers,
): ReturnState => ({
  brokenMembers: new Set(brokenMembers),
  brokenServers: new Set(brokenServers),
  hasQuorum: brokenMembers.length < 2,
})

test('workers return without a condition on etcd, control planes only while etcd keeps its quorum', () => {
  const steps = buildReturnSteps(hosts, members, broken([]))
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
  const steps = buildReturnSteps(hosts, members, broken(['cp1']))
  expect(steps.map(({ host }) => host)).toEqual(['cp1', 'w1', 'cp3', 'cp2'])
  expect(steps[0]?.after[0]).toEqual({ kind: 'etcd-healthy', members: ['cp1'] })
})

test('without a quorum, members return together, because none of them is healthy before a majority is', () => {
  const steps = buildReturnSteps(hosts, members, broken(members))
  expect(
    steps.map(({ host, before, after, checked }) => [host, before, after.length, checked.length]),
  ).toEqual([
    ['cp3', [], 0, 0],
    ['cp2', [], 0, 0],
    ['cp1', [], 3, 3],
    ['w1', [], 1, 1],
  ])
  expect(steps[2]?.after[0]).toEqual({ kind: 'etcd-healthy', members: ['cp3', 'cp2', 'cp1'] })
})

test('hosts whose etcd member is healthy return only while the quorum stays, also if their API server is broken', () => {
  const steps = buildReturnSteps(hosts, members, broken([], members))
  expect(steps.map(({ host }) => host)).toEqual(['cp3', 'cp2', 'cp1', 'w1'])
  for (const { host, before, after } of steps.slice(0, 3)) {
    expect(before).toEqual([{ kind: 'etcd-quorum-without', host, members }])
    expect(after[0]).toEqual({ kind: 'etcd-healthy', members: [host] })
  }
})

test('a broken etcd member returns before a member that the quorum needs', () => {
  const steps = buildReturnSteps(hosts, members, broken(['cp1'], ['cp3']))
  expect(steps.map(({ host }) => host)).toEqual(['cp1', 'cp3', 'w1', 'cp2'])
})

test('the only member needs no quorum without itself', () => {
  expect(buildReturnSteps([controlPlane('cp1')], ['cp1'], broken([]))[0]?.before).toEqual([])
})

test('etcd members and API servers are checked one by one, and the quorum also for hosts that do not return', async () => {
  const client = createFakeClusterClient({
    etcdHealthy: async ([host]) => (host === 'cp1' ? 'it does not respond' : undefined),
    apiReady: async ([host]) => {
      if (host === 'cp2') throw new Error('connection refused')
      return undefined
    },
  })
  expect(await readReturnState(hosts, members, client)).toEqual(broken(['cp1'], ['cp2']))
  const onlyFirst = await readReturnState([controlPlane('cp1')], members, client)
  expect(onlyFirst).toMatchObject({ brokenServers: new Set(), hasQuorum: true })
  const lost = createFakeClusterClient({ etcdHealthy: async () => 'etcdserver: request timed out' })
  expect(await readReturnState(hosts, members, lost)).toMatchObject({ hasQuorum: false })
})
