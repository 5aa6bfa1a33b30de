import type { ComponentHealth, HostHealth, ProbeHealth } from '../../../contract/health.ts'
import type { Member, MemberHealth, Observation } from '../../../etcd/member.ts'
import type { Node } from '../../cluster-objects/node.ts'
import type { Place } from '../../host-endpoints.ts'
import { serviceNames } from '../../status/services.ts'
import { awayLook, type HostLook } from '../observe-host.ts'
import { type Look, wellOf } from '../observe-cluster.ts'

export const seenAt = '2026-11-15T12:00:00.000Z'
const began = '2026-11-15T11:58:00.000Z'

/** For tests: a cluster of so many control planes and workers, all of it well. */
export function healthyLook(controlPlanes = 3, workers = 2): Look {
  const places = [
    ...names('cp', controlPlanes).map((host, at) => place(host, `10.0.0.${at + 1}`, true)),
    ...names('w', workers).map((host, at) => place(host, `10.0.0.${at + 101}`, false)),
  ]
  return {
    at: new Date(seenAt),
    places,
    hosts: places.map(healthyHost),
    etcd: { state: 'seen', observed: observation(places, []) },
    api: new Map(places.flatMap(({ host, api }) => (api ? [[host, wellOf(undefined)]] : []))),
    nodes: places.map(({ host }) => nodeNamed(host, true)),
  }
}

function names(prefix: string, amount: number): string[] {
  return Array.from({ length: amount }, (_, at) => `${prefix}${at + 1}`)
}

function place(host: string, address: string, isControlPlane: boolean): Place {
  return { host, address, etcd: isControlPlane, api: isControlPlane, node: host }
}

function healthyHost(of: Place): HostLook {
  const components = serviceNames(of)
  return {
    place: of,
    away: undefined,
    version: '0.1.0',
    services: components.map((name) => ({ name, state: 'active', restarts: 0, enabled: true })),
    disks: [],
    programs: [],
    agent: { state: 'answers', version: '0.1.0', health: healthOf(components), certificates: [] },
    logs: new Map(),
  }
}

function healthOf(components: readonly string[]): HostHealth {
  return {
    at: seenAt,
    plan: 'a'.repeat(64),
    ladder: 'usual',
    budget: { spent: 0, most: 10, within: 600_000 },
    components: components.map(wellComponent),
    probes: components.map((component) => probe(component, 'livez', {})),
    actions: [],
  }
}

function wellComponent(component: string): ComponentHealth {
  return {
    component,
    state: 'well',
    since: began,
    service: { name: `${component}.service`, active: 'active', sub: 'running', restarts: 0, enabled: true },
    drift: [],
  }
}

export function probe(component: string, name: string, more: Partial<ProbeHealth>): ProbeHealth {
  return { component, probe: name, scope: 'local', state: 'well', since: began, ...more }
}

/** As many as are named do not get ready. */
export function observation(places: readonly Place[], missing: readonly string[]): Observation {
  const members = places
    .filter(({ etcd }) => etcd)
    .map(({ host, address }): Member => ({
      id: host,
      name: host,
      peerUrls: [`https://${address}:2380`],
      clientUrls: [`https://${address}:2379`],
      learner: false,
    }))
  const health = members.map(({ id }): [string, MemberHealth] => [
    id,
    missing.includes(id)
      ? { live: false, ready: false, failing: [], reason: 'no answer within 3000 ms' }
      : { live: true, ready: true, failing: [], reason: undefined },
  ])
  const isQuorum = (members.length - missing.length) * 2 > members.length
  return {
    clusterId: 'c',
    members,
    confirmed: isQuorum,
    health: new Map(health),
    statuses: new Map(),
    alarms: [],
  }
}

export function nodeNamed(name: string, ready: boolean): Node {
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
          lastTransitionTime: began,
        },
      ],
    },
  }
}

export function changeHost(look: Look, host: string, change: (of: HostLook) => HostLook): Look {
  return { ...look, hosts: look.hosts.map((one) => (one.place.host === host ? change(one) : one)) }
}

/** Some probes of a host fail, in the words of their codes. */
export function failing(
  look: Look,
  host: string,
  ...failures: readonly (readonly [component: string, code: string, scope?: ProbeHealth['scope']])[]
): Look {
  return withHealth(look, host, (health) => ({
    ...health,
    probes: [
      ...health.probes.filter(
        ({ component }) => !failures.some(([name, , scope]) => name === component && scope !== 'remote'),
      ),
      ...failures.map(([component, code, scope = 'local']) =>
        probe(component, code.toLowerCase(), { scope, state: 'failing', code, seen: `${code} was seen` }),
      ),
    ],
  }))
}

export function withHealth(look: Look, host: string, change: (of: HostHealth) => HostHealth): Look {
  return changeHost(look, host, (one) =>
    one.agent.state === 'answers' && one.agent.health !== undefined
      ? { ...one, agent: { ...one.agent, health: change(one.agent.health) } }
      : one,
  )
}

export function withComponent(
  look: Look,
  host: string,
  component: string,
  change: Partial<ComponentHealth>,
): Look {
  return withHealth(look, host, (health) => ({
    ...health,
    components: health.components.map((one) => (one.component === component ? { ...one, ...change } : one)),
  }))
}

/** It does not answer, and others miss it. */
export function lost(look: Look, ...hosts: readonly string[]): Look {
  const away = { code: 'HOST_AWAY', reason: 'connect ETIMEDOUT' }
  const gone = hosts.reduce(
    (before, host) => changeHost(before, host, (one) => awayLook(one.place, away)),
    look,
  )
  return unready(gone, ...hosts)
}

/** The nodes, API servers and members of etcd of these hosts are not ready, as an operator sees it. */
export function unready(look: Look, ...hosts: readonly string[]): Look {
  const members = hosts.filter((host) => look.places.some((one) => one.etcd && one.host === host))
  const observed = observation(look.places, members)
  return {
    ...look,
    etcd: { state: 'seen', observed },
    api: new Map(
      [...look.api].map(([host, was]) => [
        host,
        hosts.includes(host) || !observed.confirmed ? wellOf('fails etcd') : was,
      ]),
    ),
    nodes: observed.confirmed
      ? look.nodes?.map((node) =>
          hosts.includes(node.metadata.name) ? nodeNamed(node.metadata.name, false) : node,
        )
      : undefined,
  }
}
