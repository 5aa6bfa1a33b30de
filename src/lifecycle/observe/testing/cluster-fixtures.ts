import type { ComponentHealth, HostHealth, ProbeHealth } from '../../../contract/health.ts'
import type { EtcdMember, MemberHealth, EtcdObservation } from '../../../etcd/member.ts'
import type { Node } from '../../cluster-objects/node.ts'
import type { HostEndpoint } from '../../inputs/host-endpoints.ts'
import { listServiceNames } from '../services.ts'
import { buildUnreachableHost, type HostHealthObservation } from '../observe-host.ts'
import { type ClusterHealthObservation, toHealthResult } from '../observe-cluster.ts'

export const observedAt = '2026-11-15T12:00:00.000Z'
const startedAt = '2026-11-15T11:58:00.000Z'

/** For tests: a healthy cluster with the given numbers of control planes and workers. */
export function buildHealthyCluster(controlPlanes = 3, workers = 2): ClusterHealthObservation {
  const endpoints = [
    ...numberNames('cp', controlPlanes).map((host, index) =>
      buildEndpoint(host, `10.0.0.${index + 1}`, true),
    ),
    ...numberNames('w', workers).map((host, index) => buildEndpoint(host, `10.0.0.${index + 101}`, false)),
  ]
  return {
    at: new Date(observedAt),
    endpoints,
    hosts: endpoints.map(buildHealthyHost),
    etcd: { state: 'observed', observed: buildMembersObservation(endpoints, []) },
    api: new Map(endpoints.flatMap(({ host, api }) => (api ? [[host, toHealthResult(undefined)]] : []))),
    nodes: endpoints.map(({ host }) => buildNodeObject(host, true)),
    addons: [{ name: 'coredns', ready: true }],
  }
}

function numberNames(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)
}

function buildEndpoint(host: string, address: string, isControlPlane: boolean): HostEndpoint {
  return { host, address, etcd: isControlPlane, api: isControlPlane, node: host }
}

function buildHealthyHost(subject: HostEndpoint): HostHealthObservation {
  const components = listServiceNames(subject)
  return {
    endpoint: subject,
    unreachable: undefined,
    version: '0.1.0',
    services: components.map((name) => ({ name, state: 'active', restarts: 0, enabled: true })),
    disks: [],
    programs: [],
    agent: { state: 'reachable', version: '0.1.0', health: buildHealth(components), certificates: [] },
    logs: new Map(),
  }
}

function buildHealth(components: readonly string[]): HostHealth {
  return {
    at: observedAt,
    plan: 'a'.repeat(64),
    healPolicy: 'default',
    budget: { used: 0, max: 10, windowMs: 600_000 },
    components: components.map(buildHealthyComponent),
    probes: components.map((component) => buildProbe(component, 'livez', {})),
    actions: [],
  }
}

function buildHealthyComponent(component: string): ComponentHealth {
  return {
    component,
    state: 'healthy',
    since: startedAt,
    service: { name: `${component}.service`, active: 'active', sub: 'running', restarts: 0, enabled: true },
    drift: [],
  }
}

export function buildProbe(component: string, name: string, overrides: Partial<ProbeHealth>): ProbeHealth {
  return { component, probe: name, scope: 'local', state: 'healthy', since: startedAt, ...overrides }
}

/** For tests: an etcd observation in which the named members are not ready. */
export function buildMembersObservation(
  endpoints: readonly HostEndpoint[],
  unreadyMembers: readonly string[],
): EtcdObservation {
  const members = endpoints
    .filter(({ etcd }) => etcd)
    .map(({ host, address }): EtcdMember => ({
      id: host,
      name: host,
      peerUrls: [`https://${address}:2380`],
      clientUrls: [`https://${address}:2379`],
      learner: false,
    }))
  const health = members.map(({ id }): [string, MemberHealth] => [
    id,
    unreadyMembers.includes(id)
      ? { live: false, ready: false, failing: [], reason: 'no answer within 3000 ms' }
      : { live: true, ready: true, failing: [], reason: undefined },
  ])
  const isQuorum = (members.length - unreadyMembers.length) * 2 > members.length
  return {
    clusterId: 'c',
    members,
    confirmed: isQuorum,
    health: new Map(health),
    statuses: new Map(),
    alarms: [],
  }
}

export function buildNodeObject(name: string, ready: boolean): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: {
      conditions: [
        {
          type: 'Ready',
          status: ready ? 'True' : 'Unknown',
          message: ready ? 'kubelet is posting ready status' : 'Kubelet stopped posting node status.',
          lastTransitionTime: startedAt,
        },
      ],
    },
  }
}

/** For tests: sets a condition of nodes to true, and sets a taint if `taintKey` is given. */
export function withNodeCondition(
  cluster: ClusterHealthObservation,
  condition: string,
  taintKey: string | undefined,
  ...hosts: readonly string[]
): ClusterHealthObservation {
  const observed = {
    type: condition,
    status: 'True',
    message: `kubelet has ${condition}`,
    lastTransitionTime: startedAt,
  }
  return {
    ...cluster,
    nodes: cluster.nodes?.map((node) =>
      hosts.includes(node.metadata.name)
        ? {
            ...node,
            spec: {
              taints: taintKey === undefined ? [] : [{ key: taintKey, value: '', effect: 'NoSchedule' }],
            },
            status: { conditions: [...(node.status?.conditions ?? []), observed] },
          }
        : node,
    ),
  }
}

export function changeHost(
  cluster: ClusterHealthObservation,
  host: string,
  change: (subject: HostHealthObservation) => HostHealthObservation,
): ClusterHealthObservation {
  return { ...cluster, hosts: cluster.hosts.map((one) => (one.endpoint.host === host ? change(one) : one)) }
}

/** For tests: makes probes of a host fail with the given codes. */
export function withFailingProbes(
  cluster: ClusterHealthObservation,
  host: string,
  ...failures: readonly (readonly [component: string, code: string, scope?: ProbeHealth['scope']])[]
): ClusterHealthObservation {
  return withHealth(cluster, host, (health) => ({
    ...health,
    probes: [
      ...health.probes.filter(
        ({ component }) => !failures.some(([name, , scope]) => name === component && scope !== 'remote'),
      ),
      ...failures.map(([component, code, scope = 'local']) =>
        buildProbe(component, code.toLowerCase(), {
          scope,
          state: 'unhealthy',
          code,
          message: `${code} was seen`,
        }),
      ),
    ],
  }))
}

export function withHealth(
  cluster: ClusterHealthObservation,
  host: string,
  change: (subject: HostHealth) => HostHealth,
): ClusterHealthObservation {
  return changeHost(cluster, host, (one) =>
    one.agent.state === 'reachable' && one.agent.health !== undefined
      ? { ...one, agent: { ...one.agent, health: change(one.agent.health) } }
      : one,
  )
}

export function withComponent(
  cluster: ClusterHealthObservation,
  host: string,
  component: string,
  change: Partial<ComponentHealth>,
): ClusterHealthObservation {
  return withHealth(cluster, host, (health) => ({
    ...health,
    components: health.components.map((one) => (one.component === component ? { ...one, ...change } : one)),
  }))
}

/** For tests: makes hosts unreachable for the operator and for their peers. */
export function withLostHosts(
  cluster: ClusterHealthObservation,
  ...hosts: readonly string[]
): ClusterHealthObservation {
  const reason = { code: 'HOST_UNREACHABLE', reason: 'connect ETIMEDOUT' }
  const unreachable = hosts.reduce(
    (previous, host) => changeHost(previous, host, (one) => buildUnreachableHost(one.endpoint, reason)),
    cluster,
  )
  return withUnreadyHosts(unreachable, ...hosts)
}

/**
 * For tests: makes the nodes, API servers and etcd members of these hosts unready. If etcd loses its quorum,
 * no API server is ready, so nodes and addons are unknown.
 */
export function withUnreadyHosts(
  cluster: ClusterHealthObservation,
  ...hosts: readonly string[]
): ClusterHealthObservation {
  const members = hosts.filter((host) => cluster.endpoints.some((one) => one.etcd && one.host === host))
  const observed = buildMembersObservation(cluster.endpoints, members)
  return {
    ...cluster,
    etcd: { state: 'observed', observed },
    api: new Map(
      [...cluster.api].map(([host, previousHealth]) => [
        host,
        hosts.includes(host) || !observed.confirmed ? toHealthResult('fails etcd') : previousHealth,
      ]),
    ),
    nodes: observed.confirmed
      ? cluster.nodes?.map((node) =>
          hosts.includes(node.metadata.name) ? buildNodeObject(node.metadata.name, false) : node,
        )
      : undefined,
    addons: observed.confirmed ? cluster.addons : undefined,
  }
}
