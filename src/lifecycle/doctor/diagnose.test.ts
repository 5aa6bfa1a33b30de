import { describe, expect, test } from 'vitest'
import type { ClusterHealthObservation } from '../observe/observe-cluster.ts'
import { toHealthResult } from '../observe/observe-cluster.ts'
import {
  changeHost,
  withFailingProbes,
  buildHealthyCluster,
  withLostHosts,
  buildNodeObject,
  buildMembersObservation,
  buildProbe,
  withUnreadyHosts,
  withComponent,
  withHealth,
  withNodeCondition,
} from '../observe/testing/cluster-fixtures.ts'
import { diagnose } from './diagnose.ts'
import { formatDiagnosisKey } from './diagnosis.ts'

const healthy = buildHealthyCluster()
const listKeys = (observation: ClusterHealthObservation): string[] =>
  diagnose(observation).map(formatDiagnosisKey)
/** Keys of the diagnoses without a cause, in order. */
const listCauses = (observation: ClusterHealthObservation): string[] =>
  diagnose(observation).flatMap((diagnosis) =>
    diagnosis.causedBy === undefined ? [formatDiagnosisKey(diagnosis)] : [],
  )

test('a healthy cluster has no diagnoses', () => {
  expect(diagnose(healthy)).toEqual([])
  expect(diagnose(buildHealthyCluster(1, 0))).toEqual([])
})

const withUnreadyNodes = (
  observation: ClusterHealthObservation,
  ...hosts: readonly string[]
): ClusterHealthObservation => ({
  ...observation,
  nodes: observation.nodes?.map((node) =>
    hosts.includes(node.metadata.name) ? buildNodeObject(node.metadata.name, false) : node,
  ),
})
/**
 * The etcd member and the API server of the host fail. The node stays ready, because its kubelet uses another
 * API server.
 */
const withMemberLost = (observation: ClusterHealthObservation, host: string): ClusterHealthObservation => ({
  ...withUnreadyHosts(observation, host),
  nodes: observation.nodes,
})
const withStoppedService = (
  observation: ClusterHealthObservation,
  host: string,
  service: string,
): ClusterHealthObservation =>
  changeHost(observation, host, (diagnosis) => ({
    ...diagnosis,
    services: diagnosis.services.map((unit) =>
      unit.name === service ? { ...unit, state: 'starting', restarts: 3 } : unit,
    ),
  }))

describe('each cause comes first, and its effects follow', () => {
  const faults: readonly (readonly [name: string, observation: ClusterHealthObservation, first: string])[] = [
    [
      'a component was killed',
      withStoppedService(healthy, 'w1', 'kube-proxy'),
      'HEALTH_NOT_RUNNING w1/kube-proxy',
    ],
    [
      'etcd hangs',
      withFailingProbes(
        withMemberLost(healthy, 'cp2'),
        'cp2',
        ['etcd', 'HEALTH_NO_RESPONSE'],
        ['kube-apiserver', 'API_NOT_READY', 'remote'],
      ),
      'HEALTH_NO_RESPONSE cp2/etcd',
    ],
    [
      'an API server hangs',
      withFailingProbes(
        healthy,
        'cp1',
        ['kube-apiserver', 'HEALTH_NO_RESPONSE'],
        ['kube-scheduler', 'HEALTH_CHECK_FAILED'],
      ),
      'HEALTH_NO_RESPONSE cp1/kube-apiserver',
    ],
    [
      'a controller manager hangs',
      withFailingProbes(healthy, 'cp1', ['kube-controller-manager', 'HEALTH_NO_RESPONSE']),
      'HEALTH_NO_RESPONSE cp1/kube-controller-manager',
    ],
    [
      'a kubelet hangs',
      withFailingProbes(
        withFailingProbes(
          withUnreadyNodes(healthy, 'w1'),
          'w1',
          ['kubelet', 'HEALTH_NO_RESPONSE'],
          ['kubelet', 'NODE_LEASE_OLD', 'remote'],
        ),
        'w2',
        ['kubelet', 'PEERS_UNREACHABLE', 'remote'],
      ),
      'HEALTH_NO_RESPONSE w1/kubelet',
    ],
    [
      'containerd hangs',
      withFailingProbes(
        withUnreadyNodes(healthy, 'w2'),
        'w2',
        ['kubelet', 'HEALTH_CHECK_FAILED'],
        ['containerd', 'HEALTH_NO_RESPONSE'],
        ['containerd', 'RUNTIME_NO_NETWORK'],
      ),
      'HEALTH_NO_RESPONSE w2/containerd',
    ],
    [
      'the proxy to the API hangs',
      withFailingProbes(
        withUnreadyNodes(healthy, 'w1'),
        'w1',
        ['apiserver-proxy', 'HEALTH_NO_RESPONSE'],
        ['apiserver-proxy', 'API_UNREACHABLE', 'remote'],
        ['flanneld', 'HEALTH_CHECK_FAILED'],
      ),
      'HEALTH_NO_RESPONSE w1/apiserver-proxy',
    ],
    [
      'flanneld hangs',
      withFailingProbes(healthy, 'w1', ['flanneld', 'HEALTH_NO_RESPONSE'], ['flanneld', 'OVERLAY_ROUTES']),
      'HEALTH_NO_RESPONSE w1/flanneld',
    ],
    [
      'a program is missing',
      changeHost(withStoppedService(healthy, 'w1', 'kubelet'), 'w1', (diagnosis) => ({
        ...diagnosis,
        programs: [{ service: 'kubelet', path: '/opt/kubelet' }],
      })),
      'SERVICE_DRIFT w1/kubelet',
    ],
    [
      'a file was changed',
      withComponent(healthy, 'w1', 'kubelet', {
        drift: [{ target: 'file', name: '/etc/hyperkube/kubelet/config.yaml', difference: 'other content' }],
      }),
      'SERVICE_DRIFT w1/kubelet',
    ],
    [
      'a unit was disabled',
      changeHost(healthy, 'w1', (diagnosis) => ({
        ...diagnosis,
        services: diagnosis.services.map((unit) => ({ ...unit, enabled: unit.name !== 'kubelet' })),
      })),
      'SERVICE_DRIFT w1/kubelet',
    ],
    [
      'the CNI configuration is missing',
      withFailingProbes(
        withUnreadyNodes(healthy, 'w1'),
        'w1',
        ['containerd', 'RUNTIME_NO_NETWORK'],
        ['flanneld', 'SANDBOX_NOT_JOINED', 'remote'],
      ),
      'RUNTIME_NO_NETWORK w1/containerd',
    ],
    [
      'the flannel interface is missing',
      withFailingProbes(
        healthy,
        'w1',
        ['flanneld', 'OVERLAY_INTERFACE'],
        ['flanneld', 'OVERLAY_ROUTES'],
        ['flanneld', 'SANDBOX_NOT_JOINED', 'remote'],
      ),
      'OVERLAY_INTERFACE w1/flanneld',
    ],
    [
      'service rules were flushed',
      withFailingProbes(healthy, 'w1', ['kube-proxy', 'SERVICE_RULES']),
      'SERVICE_RULES w1/kube-proxy',
    ],
    [
      'the subnet file is stale',
      withComponent(withFailingProbes(healthy, 'w1', ['flanneld', 'OVERLAY_SUBNET']), 'w1', 'flanneld', {
        drift: [
          { target: 'derived-file', name: '/etc/cni/net.d/10-flannel.conflist', difference: 'other content' },
        ],
      }),
      'OVERLAY_SUBNET w1/flanneld',
    ],
    [
      'the disk of etcd is full',
      withStoppedService(
        withFailingProbes(healthy, 'cp1', ['etcd', 'DISK_FULL', 'remote'], ['etcd', 'HEALTH_NO_RESPONSE']),
        'cp1',
        'etcd',
      ),
      'DISK_FULL cp1/etcd',
    ],
    [
      'a disk is full, and the agent does not respond',
      changeHost(healthy, 'w1', (diagnosis) => ({
        ...diagnosis,
        disks: [{ mounted: '/', usedShare: 1 }],
        agent: { state: 'unreachable', reason: 'no answer within 8.0 s' },
      })),
      'DISK_FULL w1',
    ],
    [
      'the disk of etcd is slow',
      withFailingProbes(
        healthy,
        'cp1',
        ['etcd', 'DISK_SLOW', 'remote'],
        ['etcd', 'ETCD_NO_QUORUM', 'remote'],
      ),
      'DISK_SLOW cp1/etcd',
    ],
    [
      'etcd data is missing',
      withComponent(withStoppedService(withMemberLost(healthy, 'cp3'), 'cp3', 'etcd'), 'cp3', 'etcd', {
        state: 'blocked',
        code: 'ETCD_DATA_LOST',
        because: 'it was initialized, and its data is gone',
      }),
      'ETCD_DATA_LOST cp3/etcd',
    ],
    [
      'a worker is unreachable',
      withFailingProbes(withLostHosts(healthy, 'w1'), 'w2', ['kubelet', 'PEERS_UNREACHABLE', 'remote']),
      'HOST_UNREACHABLE w1',
    ],
    [
      'a control plane is unreachable',
      withFailingProbes(withLostHosts(healthy, 'cp1'), 'cp2', ['kubelet', 'PEERS_UNREACHABLE', 'remote']),
      'HOST_UNREACHABLE cp1',
    ],
    [
      'a worker cannot reach its peers',
      withFailingProbes(
        withUnreadyNodes(healthy, 'w1'),
        'w1',
        ['apiserver-proxy', 'API_UNREACHABLE', 'remote'],
        ['kubelet', 'NODE_LEASE_OLD', 'remote'],
        ['flanneld', 'HEALTH_CHECK_FAILED'],
      ),
      'HOST_CUT_OFF w1',
    ],
    [
      'a control plane cannot reach its peers',
      withFailingProbes(
        withUnreadyHosts(healthy, 'cp1'),
        'cp1',
        ['etcd', 'ETCD_NO_QUORUM', 'remote'],
        ['kube-apiserver', 'API_NOT_READY', 'remote'],
        ['apiserver-proxy', 'API_UNREACHABLE', 'remote'],
        ['kube-scheduler', 'HEALTH_NOT_RUNNING'],
      ),
      'HOST_CUT_OFF cp1',
    ],
    [
      'a control plane cannot reach the other etcd members only',
      withFailingProbes(
        withMemberLost(healthy, 'cp1'),
        'cp1',
        ['etcd', 'HEALTH_NO_RESPONSE', 'remote'],
        ['kube-apiserver', 'HEALTH_CHECK_FAILED'],
      ),
      'ETCD_NO_QUORUM cp1/etcd',
    ],
    [
      'the certificate of a kubelet has expired',
      withFailingProbes(
        withUnreadyNodes(healthy, 'w1'),
        'w1',
        ['kubelet', 'CERTIFICATE_EXPIRED', 'remote'],
        ['kubelet', 'NODE_LEASE_OLD', 'remote'],
        ['kubelet', 'PEERS_UNREACHABLE', 'remote'],
      ),
      'CERTIFICATE_EXPIRED w1/kubelet',
    ],
    [
      'an agent hangs',
      changeHost(healthy, 'w1', (diagnosis) => ({
        ...diagnosis,
        agent: { state: 'unreachable', reason: 'no answer within 8.0 s' },
      })),
      'AGENT_UNREACHABLE w1/hyperkube-agent',
    ],
  ]
  test.each(faults)('%s', (_name, observation, first) => {
    expect(listCauses(observation)).toEqual([first])
    const [cause, ...rest] = diagnose(observation)
    expect(cause && formatDiagnosisKey(cause)).toBe(first)
    for (const diagnosis of rest) expect(diagnosis.causedBy).toBe(first)
  })
})

test('if the API is down, API_DOWN comes first, then the cause of each API server', () => {
  const servers = ['cp1', 'cp2', 'cp3']
  const observation = servers.reduce(
    (previous, host) =>
      withFailingProbes(
        previous,
        host,
        ['kube-apiserver', 'HEALTH_NO_RESPONSE'],
        ['kube-scheduler', 'HEALTH_CHECK_FAILED'],
        ['apiserver-proxy', 'API_UNREACHABLE', 'remote'],
      ),
    healthy,
  )
  const down: ClusterHealthObservation = {
    ...observation,
    nodes: undefined,
    api: new Map(servers.map((host) => [host, toHealthResult('connect ECONNREFUSED')])),
  }
  expect(listCauses(down)).toEqual([
    'API_DOWN kube-apiserver',
    ...servers.map((host) => `HEALTH_NO_RESPONSE ${host}/kube-apiserver`),
  ])
})

test('a lost quorum comes first, then the unreachable hosts, and the API follows', () => {
  const observation = withFailingProbes(
    withLostHosts(healthy, 'cp2', 'cp3'),
    'cp1',
    ['etcd', 'ETCD_NO_QUORUM', 'remote'],
    ['kube-apiserver', 'API_NOT_READY', 'remote'],
  )
  expect(listCauses(observation)).toEqual([
    'ETCD_QUORUM_LOST etcd',
    'HOST_UNREACHABLE cp2',
    'HOST_UNREACHABLE cp3',
  ])
  expect(diagnose(observation).find(({ code }) => code === 'API_DOWN')?.causedBy).toBe(
    'ETCD_QUORUM_LOST etcd',
  )
})

test('an unfinished restore is the cause of what it stopped', () => {
  const restore = {
    id: '11111111-1111-4111-8111-111111111111',
    snapshot: 'a'.repeat(64),
    members: ['cp1', 'cp2', 'cp3'].map((name) => `${name}=https://10.0.0.1:2380`),
  }
  const stopped = ['cp1', 'cp2', 'cp3'].reduce(
    (previous, host) =>
      withStoppedService(withStoppedService(previous, host, 'etcd'), host, 'kube-apiserver'),
    withStoppedService(withUnreadyHosts(healthy, 'cp1', 'cp2', 'cp3'), 'w1', 'kubelet'),
  )
  const observation = changeHost(stopped, 'cp2', (one) =>
    one.agent.state === 'reachable'
      ? { ...one, agent: { ...one.agent, restore: { ...restore, state: 'data-restored' } } }
      : one,
  )
  expect(listCauses(stopped)).toContain('ETCD_QUORUM_LOST etcd')
  expect(listCauses(observation)).toEqual(['ETCD_RESTORE_UNFINISHED etcd'])
  expect(diagnose(observation)[0]).toMatchObject({
    what: 'an etcd restore was started and is not finished',
    evidence: ['cp2 has the restored data of the database aaaaaaaaaaaa'],
    command: 'resume the restore: hyperkube etcd snapshot restore NAME',
  })
})

test('with a single etcd member its own fault is the cause', () => {
  const diagnosis = buildHealthyCluster(1, 1)
  const observation = withFailingProbes(withUnreadyHosts(diagnosis, 'cp1'), 'cp1', [
    'etcd',
    'HEALTH_NO_RESPONSE',
  ])
  expect(listCauses(observation)).toEqual(['HEALTH_NO_RESPONSE cp1/etcd'])
  expect(listKeys(observation)).toContain('ETCD_QUORUM_LOST etcd')
})

test('an operator that reaches no member reports no lost quorum while a member is ready', () => {
  const unreachable: ClusterHealthObservation = {
    ...healthy,
    etcd: { state: 'unreachable', reason: 'no answer within 3000 ms' },
  }
  const withReadyMember = withHealth(unreachable, 'cp1', (health) => ({
    ...health,
    probes: [...health.probes, buildProbe('etcd', 'readyz', { scope: 'remote' })],
  }))
  expect(listKeys(unreachable)).toContain('ETCD_QUORUM_LOST etcd')
  expect(listKeys(withReadyMember)).toEqual([])
})

test('a quorum that etcd confirms is not lost, although most members are unreachable for the operator', () => {
  const observed = buildMembersObservation(healthy.endpoints, ['cp2', 'cp3'])
  const confirmed: ClusterHealthObservation = {
    ...healthy,
    etcd: { state: 'observed', observed: { ...observed, confirmed: true } },
  }
  expect(listKeys(confirmed)).toEqual([
    'ETCD_MEMBER_UNREACHABLE cp2/etcd',
    'ETCD_MEMBER_UNREACHABLE cp3/etcd',
  ])
})

test('one missed API probe does not mean HOST_CUT_OFF unless peers are unreachable too', () => {
  const withDegradedProbes = (...codes: readonly string[]): ClusterHealthObservation =>
    withHealth(healthy, 'cp1', (health) => ({
      ...health,
      probes: [
        ...health.probes,
        ...codes.map((code) =>
          buildProbe('apiserver-proxy', code.toLowerCase(), { scope: 'remote', state: 'degraded', code }),
        ),
      ],
    }))
  expect(listKeys(withDegradedProbes('API_UNREACHABLE'))).not.toContain('HOST_CUT_OFF cp1')
  expect(listKeys(withDegradedProbes('API_UNREACHABLE', 'PEERS_UNREACHABLE'))).toContain('HOST_CUT_OFF cp1')
})

test('if no host is reachable, only NO_HOST_REACHABLE is reported', () => {
  const allUnreachable = withLostHosts(healthy, ...healthy.endpoints.map(({ host }) => host))
  const observation: ClusterHealthObservation = {
    ...allUnreachable,
    etcd: { state: 'unreachable', reason: 'no endpoints' },
    nodes: undefined,
  }
  expect(diagnose(observation)).toMatchObject([
    {
      code: 'NO_HOST_REACHABLE',
      what: 'no host is reachable from this machine',
      command: 'check the network or the VPN of this machine, then: hyperkube doctor',
      evidence: [
        'cp1, ssh to 10.0.0.1: connect ETIMEDOUT',
        'cp2, ssh to 10.0.0.2: connect ETIMEDOUT',
        'cp3, ssh to 10.0.0.3: connect ETIMEDOUT',
        'w1, ssh to 10.0.0.101: connect ETIMEDOUT',
        'w2, ssh to 10.0.0.102: connect ETIMEDOUT',
      ],
    },
  ])
})

test('if no host is reachable, the command is an ssh login to the first host', () => {
  const single = buildHealthyCluster(1, 0)
  const observation = withLostHosts(
    changeHost(single, 'cp1', (host) => ({
      ...host,
      endpoint: { ...host.endpoint, sshCommand: 'ssh root@10.0.0.1' },
    })),
    'cp1',
  )
  const [first] = diagnose(observation)
  expect(first).toMatchObject({ code: 'NO_HOST_REACHABLE', command: 'ssh root@10.0.0.1 true' })
})

test.each([
  [1, 'hyperkube etcd recover, or: hyperkube etcd snapshot restore NAME'],
  [3, 'hyperkube etcd rejoin cp1'],
])('lost data of one of %d etcd members is diagnosed with the command: %s', (controlPlanes, command) => {
  const cluster = buildHealthyCluster(controlPlanes, 1)
  const lost = { state: 'blocked', code: 'ETCD_DATA_LOST', because: 'its data is gone' } as const
  expect(diagnose(withComponent(cluster, 'cp1', 'etcd', lost))).toMatchObject([
    { code: 'ETCD_DATA_LOST', command },
  ])
})

describe('the command for an unreachable host', () => {
  const findCommand = (observation: ClusterHealthObservation, host: string): string | undefined =>
    diagnose(observation).find((one) => one.code === 'HOST_UNREACHABLE' && one.host === host)?.command
  const remove = (host: string): string =>
    `start ${host}, or fix its network; if it is lost permanently: hyperkube node remove ${host}`
  const wait = (host: string): string => `start ${host}, or fix its network, then: hyperkube doctor`

  test('is removal for a worker and for one of three control planes', () => {
    expect(findCommand(withLostHosts(buildHealthyCluster(1, 1), 'w1'), 'w1')).toBe(remove('w1'))
    expect(findCommand(withLostHosts(healthy, 'cp1'), 'cp1')).toBe(remove('cp1'))
  })

  test('is not removal for the only control plane or without an etcd quorum', () => {
    expect(findCommand(withLostHosts(buildHealthyCluster(1, 1), 'cp1'), 'cp1')).toBe(wait('cp1'))
    expect(findCommand(withLostHosts(healthy, 'cp2', 'cp3'), 'cp2')).toBe(wait('cp2'))
    expect(findCommand(withLostHosts(healthy, 'cp1', 'cp2', 'cp3'), 'w1')).toBeUndefined()
  })

  test('with --limit is removal only if another API server is reachable', () => {
    const limit = (observation: ClusterHealthObservation): ClusterHealthObservation => ({
      ...observation,
      hosts: observation.hosts.filter(({ endpoint }) => endpoint.host === 'w1'),
    })
    expect(findCommand(limit(withLostHosts(healthy, 'w1')), 'w1')).toBe(remove('w1'))
    expect(findCommand(limit(withLostHosts(healthy, 'w1', 'cp1', 'cp2', 'cp3')), 'w1')).toBe(wait('w1'))
  })
})

const coredns = {
  name: 'coredns',
  ready: false,
  reason: 'Deployment kube-system/coredns: 0 of 2 replicas are available',
  workload: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    namespace: 'kube-system',
    name: 'coredns',
    ready: 0,
    desired: 2,
  },
} as const

test.each([
  ['DiskPressure', 'disk-pressure', 'NODE_DISK_PRESSURE', 'on w1: df -h, then free disk space'],
  [
    'MemoryPressure',
    'memory-pressure',
    'NODE_MEMORY_PRESSURE',
    'on w1: ps -eo pid,rss,args --sort=-rss | head',
  ],
  ['PIDPressure', 'pid-pressure', 'NODE_PID_PRESSURE', 'on w1: ps -eo pid,nlwp,args --sort=-nlwp | head'],
  ['NetworkUnavailable', 'network-unavailable', 'NODE_NETWORK_UNAVAILABLE', 'kubectl describe node w1'],
])('node condition %s is an error with its taint, otherwise a warning', (condition, taint, code, command) => {
  const key = `node.kubernetes.io/${taint}`
  expect(diagnose(withNodeCondition(healthy, condition, key, 'w1'))).toMatchObject([
    {
      code,
      severity: 'error',
      host: 'w1',
      since: '2026-11-15T11:58:00.000Z',
      evidence: [
        `node condition ${condition}: kubelet has ${condition}`,
        `taint ${key}:NoSchedule prevents new pods`,
      ],
      command,
    },
  ])
  expect(diagnose(withNodeCondition(healthy, condition, undefined, 'w1'))).toMatchObject([
    { code, severity: 'warning' },
  ])
})

test('an addon without ready pods is caused by a node condition if all nodes have it', () => {
  const pair = { ...buildHealthyCluster(1, 1), addons: [coredns] }
  const diskPressure = ['DiskPressure', 'node.kubernetes.io/disk-pressure'] as const
  const everywhere = withNodeCondition(pair, ...diskPressure, 'cp1', 'w1')
  expect(listKeys(everywhere)).toEqual([
    'NODE_DISK_PRESSURE cp1',
    'ADDON_NOT_READY coredns',
    'NODE_DISK_PRESSURE w1',
  ])
  expect(diagnose(everywhere)[1]).toMatchObject({
    severity: 'error',
    what: 'the addon is not ready: Deployment kube-system/coredns has 0 of 2 pods ready, because no node accepts new pods: disk pressure',
    causedBy: 'NODE_DISK_PRESSURE cp1',
    command: 'kubectl -n kube-system describe deployment coredns',
  })
  const onOneNode = withNodeCondition(pair, ...diskPressure, 'w1')
  expect(listCauses(onOneNode)).toEqual(['NODE_DISK_PRESSURE w1', 'ADDON_NOT_READY coredns'])
  expect(diagnose(onOneNode)[1]?.evidence).toEqual([
    'Deployment kube-system/coredns: 0 of 2 replicas are available',
    'node w1 accepts no new pods: disk pressure',
  ])
})

test('a full disk explains the disk pressure of its node, and a Windows node does not run addons', () => {
  const pair = { ...buildHealthyCluster(1, 1), addons: [coredns] }
  const observation = withNodeCondition(
    withFailingProbes(pair, 'cp1', ['etcd', 'DISK_FULL', 'remote']),
    'DiskPressure',
    'node.kubernetes.io/disk-pressure',
    'cp1',
  )
  const endpoints = observation.endpoints.map((endpoint) =>
    endpoint.host === 'w1' ? ({ ...endpoint, os: 'windows' } as const) : endpoint,
  )
  expect(listCauses({ ...observation, endpoints })).toEqual(['DISK_FULL cp1/etcd'])
})

describe('a network addon that is not ready', () => {
  const flannel = {
    name: 'flannel',
    ready: false,
    reason: 'DaemonSet kube-flannel/kube-flannel-ds: 1 of 2 pods are available',
    workload: {
      ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-flannel', name: 'kube-flannel-ds' },
      ...{ ready: 1, desired: 2 },
    },
  }
  const pair = buildHealthyCluster(1, 1)
  const withNetworkAddon = (observation: ClusterHealthObservation): ClusterHealthObservation => ({
    ...observation,
    endpoints: observation.endpoints.map((endpoint) => ({ ...endpoint, networkAddon: 'flannel' })),
    addons: [flannel],
  })
  const withoutNetwork = (observation: ClusterHealthObservation, host: string): ClusterHealthObservation => ({
    ...withFailingProbes(observation, host, ['containerd', 'RUNTIME_NO_NETWORK']),
    nodes: observation.nodes?.map((node) => {
      const ready = { type: 'Ready', status: 'False', message: 'cni plugin not initialized' }
      return node.metadata.name === host ? { ...node, status: { conditions: [ready] } } : node
    }),
  })

  test('explains a node that is not ready', () => {
    const observation = withNetworkAddon(withoutNetwork(pair, 'w1'))
    expect(diagnose(observation)).toMatchObject([
      {
        code: 'ADDON_NOT_READY',
        severity: 'error',
        component: 'flannel',
        what: 'the addon of the pod network is not ready: DaemonSet kube-flannel/kube-flannel-ds has 1 of 2 pods ready',
        evidence: [flannel.reason, 'node w1 accepts no new pods: not ready'],
        command: 'kubectl -n kube-flannel get pods -o wide, then describe the pod that is not ready',
        needsOperator: true,
      },
      {
        code: 'RUNTIME_NO_NETWORK',
        causedBy: 'ADDON_NOT_READY flannel',
        command: 'check the pods of your network plugin on w1: hyperkube logs containerd --limit w1',
      },
      { code: 'NODE_NOT_READY', causedBy: 'ADDON_NOT_READY flannel' },
    ])
  })

  test('explains a runtime without a network while the node is still ready', () => {
    const observation = withFailingProbes(pair, 'w1', ['containerd', 'RUNTIME_NO_NETWORK', 'remote'])
    expect(listKeys(withNetworkAddon(observation))).toEqual([
      'ADDON_NOT_READY flannel',
      'RUNTIME_NO_NETWORK w1/containerd',
    ])
    expect(listCauses(withNetworkAddon(observation))).toEqual(['ADDON_NOT_READY flannel'])
  })

  test('explains addons that no node accepts, and is not explained by nodes', () => {
    const everywhere = withNetworkAddon(withoutNetwork(withoutNetwork(pair, 'cp1'), 'w1'))
    expect(listCauses({ ...everywhere, addons: [flannel, coredns] })).toEqual(['ADDON_NOT_READY flannel'])
  })

  test('does not explain a node whose kubelet is silent, and is a warning while all nodes are ready', () => {
    const silent = withNetworkAddon(withUnreadyNodes(pair, 'w1'))
    expect(listCauses(silent)).toContain('NODE_NOT_READY w1')
    expect(diagnose(withNetworkAddon(pair))).toMatchObject([{ severity: 'warning' }])
  })
})

test('an addon with some ready pods, or without pods, is a warning', () => {
  const partly = { ...coredns, workload: { ...coredns.workload, ready: 1 } }
  const { workload: _, ...other } = coredns
  expect(diagnose({ ...healthy, addons: [partly] })).toMatchObject([{ severity: 'warning' }])
  expect(diagnose({ ...healthy, addons: [other] })).toMatchObject([
    { severity: 'warning', what: 'the addon is not ready', command: 'hyperkube addon list' },
  ])
})

test('cordoned nodes explain an addon that is not ready, and are no problem of their own', () => {
  const cordoned = {
    ...healthy,
    nodes: healthy.nodes?.map((node) => ({ ...node, spec: { taints: [], unschedulable: true } })),
  }
  expect(diagnose(cordoned)).toEqual([])
  expect(diagnose({ ...cordoned, addons: [coredns] })).toMatchObject([
    { what: expect.stringContaining('because no node accepts new pods: cordoned') },
  ])
})

test('degraded probes, due certificates and paused healing are warnings after all errors', () => {
  const paused = withHealth(
    withFailingProbes(
      healthy,
      'w1',
      ['kubelet', 'CERTIFICATE_DUE', 'remote'],
      ['kube-proxy', 'HEALTH_NO_RESPONSE'],
    ),
    'cp1',
    (health) => ({
      ...health,
      paused: { until: '2026-11-15T13:00:00.000Z', by: 'ana' },
      probes: [
        ...health.probes,
        buildProbe('etcd', 'disk', { scope: 'remote', state: 'degraded', code: 'DISK_SLOW' }),
      ],
    }),
  )
  expect(diagnose(paused).map(({ code, severity }) => `${severity} ${code}`)).toEqual([
    'error HEALTH_NO_RESPONSE',
    'warning DISK_SLOW',
    'warning CERTIFICATE_DUE',
    'warning HEAL_PAUSED',
  ])
})

test('a diagnosis contains the last and next action of the agent', () => {
  const observation = withHealth(
    withComponent(withFailingProbes(healthy, 'w1', ['kubelet', 'HEALTH_NO_RESPONSE']), 'w1', 'kubelet', {
      state: 'exhausted',
      code: 'HEAL_EXHAUSTED',
      because: 'eight restarts did not help',
    }),
    'w1',
    (health) => ({
      ...health,
      actions: [
        {
          at: '2026-11-15T11:59:00.000Z',
          component: 'kubelet',
          action: 'restart',
          because: 'it did not answer',
          outcome: 'done',
          details: [],
        },
      ],
    }),
  )
  expect(diagnose(observation)).toMatchObject([
    {
      code: 'HEALTH_NO_RESPONSE',
      healing: {
        lastAction: '2026-11-15T11:59:00.000Z restarted the component: it did not answer',
        nextAction: 'an operator is needed: eight restarts did not help',
      },
      needsOperator: true,
    },
  ])
})

test('without an agent the state of systemd and the last log lines are used', () => {
  const observation = changeHost(withStoppedService(healthy, 'w1', 'kubelet'), 'w1', (diagnosis) => ({
    ...diagnosis,
    agent: { state: 'unreachable', reason: 'no answer' },
    logs: new Map([['kubelet', ['failed to load config']]]),
  }))
  expect(listCauses(observation)).toEqual([
    'HEALTH_NOT_RUNNING w1/kubelet',
    'AGENT_UNREACHABLE w1/hyperkube-agent',
  ])
  expect(diagnose(observation)[0]?.evidence).toEqual([
    'systemd: kubelet is starting, restarted 3 times',
    'failed to load config',
  ])
})

test('an etcd alarm is reported for its member', () => {
  const observed = {
    ...buildMembersObservation(healthy.endpoints, []),
    alarms: [{ memberId: 'cp1', alarm: 'NOSPACE' as const }],
  }
  expect(listKeys({ ...healthy, etcd: { state: 'observed', observed } })).toEqual([
    'ETCD_ALARM_SPACE cp1/etcd',
  ])
})

test('annotations of ingress-nginx without effect are a warning, with a limited list of Ingresses', () => {
  const apiVersion = 'networking.k8s.io/v1'
  const annotations = { 'nginx.ingress.kubernetes.io/rewrite-target': '/' }
  const ingresses = Array.from({ length: 22 }, (_, index) => ({
    apiVersion,
    kind: 'Ingress',
    metadata: { name: `web-${index}`, namespace: 'shop', annotations },
    spec: index === 0 ? {} : { ingressClassName: 'nginx' },
  }))
  const off = { ...healthy, ingress: { ingresses, classes: [], nginxAnnotations: false } }
  const [found, ...others] = diagnose(off)
  expect(others).toEqual([])
  expect(found).toMatchObject({
    code: 'INGRESS_ANNOTATIONS_UNSERVED',
    severity: 'warning',
    what: 'annotations nginx.ingress.kubernetes.io/ of 22 Ingress objects have no effect',
    command: 'set spec.ingress.nginxAnnotations: true in cluster.yml, then hyperkube up',
  })
  expect(found?.evidence.slice(0, 2)).toEqual([
    'Ingress shop/web-0 without a class: rewrite-target',
    'Ingress shop/web-1 of class nginx: rewrite-target',
  ])
  expect(found?.evidence.slice(20)).toEqual(['and 2 more'])
  expect(listKeys({ ...healthy, ingress: { ingresses: [], classes: [], nginxAnnotations: true } })).toEqual(
    [],
  )
})
