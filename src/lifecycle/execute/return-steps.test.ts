import { expect, test } from 'vitest'
import type { Gate } from '../../rollout/step.ts'
import { createFakeClusterClient } from '../testing/fake-cluster-client.ts'
import {
  buildReturnSteps,
  type HostToReturn,
  listLostMembers,
  listReadyHosts,
  passReturnGate,
  readReturnState,
  type ReturnState,
} from './return-steps.ts'

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
  })
  expect(steps[1]).toEqual({
    host: 'cp3',
    before: [{ kind: 'etcd-quorum-without', host: 'cp3', members }],
    after: [
      { kind: 'etcd-healthy', members: ['cp3'] },
      { kind: 'api-ready', hosts: ['cp3'] },
      { kind: 'nodes-ready', hosts: ['cp3'] },
    ],
  })
  expect(steps.map(listReadyHosts)).toEqual([['w1'], ['cp3'], ['cp2'], ['cp1']])
})

test('nodes whose container runtime was replaced must report their own runtime again', () => {
  const after = [{ kind: 'nodes-ready', hosts: ['w1'], runtime: 'docker' }]
  expect(buildReturnSteps([worker('w1')], members, broken([]), 'docker')).toEqual([
    { host: 'w1', before: [], after },
  ])
})

test('a control plane whose move was interrupted returns before all others, which wait for it', () => {
  const steps = buildReturnSteps(hosts, members, broken(['cp1']))
  expect(steps.map(({ host }) => host)).toEqual(['cp1', 'w1', 'cp3', 'cp2'])
  expect(steps[0]?.after[0]).toEqual({ kind: 'etcd-healthy', members: ['cp1'] })
})

test('without a quorum, members return together, because none of them is healthy before a majority is', () => {
  const steps = buildReturnSteps(hosts, members, broken(members))
  expect(steps.map(({ host, before, after }) => [host, before, after.length])).toEqual([
    ['cp3', [], 0],
    ['cp2', [], 0],
    ['cp1', [], 3],
    ['w1', [], 1],
  ])
  // Before the quorum returns, no host can be uncordoned.
  expect(steps.map(listReadyHosts)).toEqual([[], [], ['cp3', 'cp2', 'cp1'], ['w1']])
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

/** Waits for a gate that cannot pass, because cp3 does not respond. */
async function failGate(gate: Gate, lostMembers: readonly string[]): Promise<unknown> {
  const client = createFakeClusterClient({
    etcdHealthy: async ([host]) => (host === 'cp3' ? 'it does not respond' : undefined),
    apiReady: async () => 'it does not respond',
  })
  const options = { timeoutMs: 1, now: () => new Date(), signal: new AbortController().signal, lostMembers }
  return passReturnGate(gate, client, () => undefined, options).catch((error: unknown) => error)
}

test('if a control plane is lost, the error tells how to return without it', async () => {
  const lost = listLostMembers(broken(['cp2', 'cp3']), new Set(['w1', 'cp3']))
  expect(lost).toEqual(['cp3'])
  const quorumGate = { kind: 'etcd-quorum-without', host: 'cp1', members } as const
  expect(await failGate(quorumGate, lost)).toMatchObject({
    code: 'ADOPT_MEMBER_LOST',
    message: 'cp1 cannot return: etcd would lose its quorum, because cp3 does not respond',
    hint: expect.stringContaining(
      'on a moved control plane run etcdctl member remove ID for cp3, delete cp3 from cluster.yml, then run the same command again',
    ),
  })
  expect(await failGate(quorumGate, [])).toMatchObject({ code: 'GATE_NOT_PASSED' })
  expect(await failGate({ kind: 'api-ready', hosts: ['cp1'] }, lost)).toMatchObject({
    code: 'GATE_NOT_PASSED',
  })
  // Without the lost host in cluster.yml, the others can return.
  const [step] = buildReturnSteps([controlPlane('cp1')], ['cp1', 'cp2'], broken([]))
  for (const gate of step?.before ?? []) expect(await failGate(gate, [])).toBeUndefined()
})
