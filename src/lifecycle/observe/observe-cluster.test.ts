import { expect, test } from 'vitest'
import type { AgentRequest, AgentResponse } from '../../contract/request.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { ExecResult, Remote } from '../../ssh/remote.ts'
import type { HostEndpoint } from '../inputs/host-endpoints.ts'
import { createFakeClusterClient } from '../testing/fake-cluster-client.ts'
import { scriptedSession, successfulRun } from '../testing/scripted-agent.ts'
import { callWithTimeout } from './observe-agent.ts'
import { observeClusterHealth, type ObserveDeps, type ObserveOptions } from './observe-cluster.ts'
import { parseDiskState } from './observe-disks.ts'
import { parseLastLogLines } from './services.ts'
import { buildHealthyCluster, observedAt } from './testing/cluster-fixtures.ts'

type Respond = (request: AgentRequest['body']) => AgentResponse['body'] | undefined

const healthyCluster = buildHealthyCluster(1, 2)
const [cp1, w1, w2] = healthyCluster.endpoints

const units = `/opt/hyperkube/hyperkube-0.1.0
Id=kubelet.service
LoadState=loaded
ActiveState=failed
NRestarts=4
UnitFileState=disabled
`

function createRemote(
  { host }: HostEndpoint,
  respond: Respond,
  requests: AgentRequest['body'][] = [],
): Remote {
  const exec = async ([, , script = '']: readonly string[]): Promise<ExecResult> => {
    const stdout = script.includes('readlink')
      ? units
      : script.includes('journalctl')
        ? 'unit kubelet.service\nline failed to load config\n'
        : 'disk /dev/sda1 1000 990 10 99% /var/lib/etcd\n'
    return { code: 0, stdout, stderr: '', bytes: Buffer.from(stdout) }
  }
  const { remote } = scriptedSession(host, { run: successfulRun, requests, respond, remote: { exec } })
  if (remote === undefined) throw new Error('a session needs a remote')
  return remote
}

const respondHealthy: Respond = ({ type }) => {
  const health = healthyCluster.hosts[0]?.agent
  return type === 'health' && health?.state === 'reachable' && health.health !== undefined
    ? { type: 'health', health: health.health }
    : undefined
}

const healthyDeps: Omit<ObserveDeps, 'connect'> = {
  client: createFakeClusterClient({
    observeEtcd: async () =>
      healthyCluster.etcd.state === 'observed'
        ? healthyCluster.etcd.observed
        : Promise.reject(new Error('silent')),
    listNodes: async () => healthyCluster.nodes ?? [],
    checkAddons: async () => [{ name: 'coredns', ready: true }],
  }),
}
const options = {
  fresh: true,
  deep: true,
  certificates: false,
  now: () => new Date(observedAt),
  signal: new AbortController().signal,
}

test('hosts are observed concurrently, and unreachable hosts or old agents do not affect the others', async () => {
  const requests: AgentRequest['body'][] = []
  const observation = await observeClusterHealth(
    healthyCluster.endpoints,
    {
      ...healthyDeps,
      async connect(host) {
        if (host === w1?.host) throw new HyperkubeError('SSH_UNREACHABLE', 'no answer', { host })
        if (host === w2?.host)
          return createRemote(w2, () => ({ type: 'refused', code: 'CONTRACT_NOT_VALID', message: 'what?' }))
        return cp1 === undefined
          ? Promise.reject(new Error('no endpoint'))
          : createRemote(cp1, respondHealthy, requests)
      },
    },
    options,
  )
  expect(requests).toEqual([{ type: 'hello' }, { type: 'health', fresh: true }])
  expect(observation.hosts).toMatchObject([
    {
      unreachable: undefined,
      version: '0.1.0',
      agent: { state: 'reachable', health: { at: observedAt } },
      services: [{ name: 'kubelet', state: 'failed', restarts: 4, enabled: false }],
      disks: [{ mounted: '/var/lib/etcd', usedShare: 0.99 }],
    },
    { unreachable: { code: 'HOST_UNREACHABLE', reason: 'no answer' }, agent: { state: 'unreachable' } },
    { unreachable: undefined, agent: { state: 'unreachable' } },
  ])
  expect(observation.hosts[0]?.logs.get('kubelet')).toEqual(['failed to load config'])
  expect(observation.addons).toEqual([{ name: 'coredns', ready: true }])
})

test('a DaemonSet may lack pods on unready nodes, that of the network only on silent ones', async () => {
  const [ready, ...others] = healthyCluster.nodes ?? []
  const nodes = others.map((node, index) => ({
    ...node,
    status: { conditions: [{ type: 'Ready', status: index === 0 ? 'Unknown' : 'False' }] },
  }))
  const counts: number[] = []
  const client = createFakeClusterClient({
    listNodes: async () => [...(ready === undefined ? [] : [ready]), ...nodes],
    checkAddons: async (countMissing) => {
      counts.push(countMissing('coredns'), countMissing('flannel'))
      return []
    },
  })
  await observeClusterHealth(
    healthyCluster.endpoints.map((endpoint) => ({ ...endpoint, networkAddon: 'flannel' })),
    {
      client,
      connect: async () =>
        cp1 === undefined ? Promise.reject(new Error('no endpoint')) : createRemote(cp1, respondHealthy),
    },
    options,
  )
  expect(counts).toEqual([2, 1])
})

test.each([
  ['is ready', undefined],
  ['is not ready', 'fails etcd'],
])('nodes are read after the first result of an API server, when it %s', async (_, reason) => {
  const calls: string[] = []
  const client = createFakeClusterClient({
    async apiReady() {
      calls.push('readiness requested')
      await Promise.resolve()
      calls.push('readiness reported')
      return reason
    },
    async listNodes() {
      calls.push('nodes')
      return []
    },
  })
  const connect = async (): Promise<Remote> =>
    cp1 === undefined ? Promise.reject(new Error('no endpoint')) : createRemote(cp1, respondHealthy)
  const { nodes } = await observeClusterHealth(healthyCluster.endpoints, { client, connect }, options)
  expect(calls).toEqual(['readiness requested', 'readiness reported', 'nodes'])
  expect(nodes).toEqual([])
})

test('an agent that does not know the health request is reachable', async () => {
  const respondAsOld: Respond = ({ type }) =>
    type === 'health' ? { type: 'refused', code: 'CONTRACT_NOT_VALID', message: 'what?' } : undefined
  const { hosts } = await observeClusterHealth(
    healthyCluster.endpoints,
    {
      ...healthyDeps,
      connect: async () =>
        cp1 === undefined ? Promise.reject(new Error('')) : createRemote(cp1, respondAsOld),
    },
    { ...options, only: new Set(['cp1']) },
  )
  expect(hosts).toMatchObject([{ agent: { state: 'reachable', version: '0.1.0' } }])
  expect(hosts[0]?.agent).not.toHaveProperty('health')
})

test('an unreachable API and etcd are reported with the reason', async () => {
  const fail = async (): Promise<never> => Promise.reject(new Error('connect ECONNREFUSED'))
  const observation = await observeClusterHealth(
    healthyCluster.endpoints,
    {
      connect: fail,
      client: createFakeClusterClient({ observeEtcd: fail, apiReady: fail, listNodes: fail }),
    },
    options,
  )
  expect(observation).toMatchObject({
    etcd: { state: 'unreachable', reason: 'connect ECONNREFUSED' },
    nodes: undefined,
    addons: undefined,
  })
  expect(observation.api.get('cp1')).toEqual({ healthy: false, reason: 'connect ECONNREFUSED' })
})

test('every call has a timeout, and an abort keeps its own reason', async () => {
  const neverResolve = async (): Promise<never> => new Promise(() => undefined)
  await expect(callWithTimeout(5, options.signal, neverResolve)).rejects.toThrow('no answer within 5 ms')
  const stop = new AbortController()
  const waiting = callWithTimeout(60_000, stop.signal, neverResolve)
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('only full disks and missing programs are kept', () => {
  const text = [
    'disk Filesystem 1024-blocks Used Available Capacity Mounted on',
    'disk /dev/sda1 1000 500 500 50% /',
    'disk /dev/sdb1 1000 1000 0 100% /var/lib/etcd',
    'disk /dev/sdb1 1000 1000 0 100% /var/lib/etcd',
    'program kubelet.service /opt/hyperkube/kubernetes/kubelet',
  ].join('\n')
  expect(parseDiskState(text)).toEqual({
    disks: [{ mounted: '/var/lib/etcd', usedShare: 1 }],
    programs: [{ service: 'kubelet', path: '/opt/hyperkube/kubernetes/kubelet' }],
  })
  expect([...parseLastLogLines('unit a.service\nline one\nline two\nunit b.service\n')]).toEqual([
    ['a', ['one', 'two']],
    ['b', []],
  ])
})

test('after the timeout reachable hosts are kept and the others are unreachable', async () => {
  const pending: (readonly string[])[] = []
  const observation = await observeClusterHealth(
    healthyCluster.endpoints,
    {
      ...healthyDeps,
      connect: async (host) =>
        host === cp1?.host
          ? createRemote(cp1, respondHealthy)
          : new Promise<never>(() => {
              // This host never answers.
            }),
    },
    { ...options, timeoutMs: 300, onPending: (names) => void pending.push(names) },
  )
  expect(observation.hosts.map(({ unreachable }) => unreachable?.reason)).toEqual([
    undefined,
    'no answer within 300 ms',
    'no answer within 300 ms',
  ])
  expect(observation.etcd.state).toBe('observed')
  expect(pending).toContainEqual([w1?.host, w2?.host])
})

test('without a reachable host, etcd and the API are not requested', async () => {
  const neverCalled = async () => Promise.reject(new Error('a client would retry until its timeout'))
  const observation = await observeClusterHealth(
    healthyCluster.endpoints,
    {
      client: createFakeClusterClient({
        observeEtcd: neverCalled,
        listNodes: neverCalled,
        apiReady: neverCalled,
      }),
      connect: async (host) => Promise.reject(new HyperkubeError('SSH_UNREACHABLE', 'no answer', { host })),
    },
    options,
  )
  const [api] = observation.api.values()
  expect(observation.etcd).toEqual({ state: 'unreachable', reason: `${cp1?.host}: no answer` })
  expect(api).toEqual({ healthy: false, reason: `${cp1?.host}: no answer` })
  expect(observation.nodes).toBeUndefined()
})

test('an interrupt ends the observation', async () => {
  const interruption = new AbortController()
  const observation = observeClusterHealth(
    healthyCluster.endpoints,
    {
      ...healthyDeps,
      connect: async () =>
        new Promise<never>(() => {
          // No host answers.
        }),
    },
    { ...options, signal: interruption.signal, timeoutMs: 60_000 },
  )
  interruption.abort(new Error('interrupted'))
  await expect(observation).rejects.toThrow('interrupted')
})

test('Ingresses are listed only on request, and are undefined if the API does not answer', async () => {
  const connect = async (): Promise<Remote> =>
    cp1 === undefined ? Promise.reject(new Error('')) : createRemote(cp1, respondHealthy)
  const ingresses = [{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'web' } }]
  const list = async () => ({ ingresses, classes: [] })
  const observe = async (listIngresses: typeof list, more: Pick<ObserveOptions, 'ingress'>) => {
    const deps = { client: createFakeClusterClient({ listIngresses }), connect }
    const all = { ...options, ...more, only: new Set(['cp1']) }
    return (await observeClusterHealth(healthyCluster.endpoints, deps, all)).ingress
  }
  const ingress = { nginxAnnotations: true }
  expect(await observe(list, { ingress })).toEqual({ ingresses, classes: [], nginxAnnotations: true })
  expect(await observe(list, {})).toBeUndefined()
  expect(await observe(async () => Promise.reject(new Error('timeout')), { ingress })).toBeUndefined()
})
