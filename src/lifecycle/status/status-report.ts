import type { ComponentHealth, HealAction, HealPause } from '../../contract/health.ts'
import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import { type Alarm, formatMember } from '../../etcd/member.ts'
import type { AdoptionSource, Identity } from '../../identity/identity.ts'
import { type CertificateFacts, inspectCertificate } from '../../pki/certificates.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { AddonReadiness } from '../../addons/addon-readiness.ts'
import type { NotReadyReason } from '../cluster-client/cluster-client.ts'
import { explainNotReady, listNodeProblems, type Node } from '../cluster-objects/node.ts'
import { isMemberOf } from '../etcd/membership.ts'
import type { HostEndpoint } from '../inputs/host-endpoints.ts'
import {
  type ClusterHealthObservation,
  type HealthResult,
  toHealthResult,
} from '../observe/observe-cluster.ts'
import type { HostHealthObservation } from '../observe/observe-host.ts'
import type { HostServicesObservation } from '../observe/services.ts'
import { type NodeStatus, readNodeStatus } from './node-status.ts'

/** Number of healthy items, and of all items. */
export interface HealthyCount {
  readonly healthy: number
  readonly total: number
}

export interface EtcdStatus extends HealthyCount {
  readonly quorum: boolean
  readonly leader?: string
  /** Size in bytes of the largest etcd database among all members. */
  readonly size?: number
  readonly alarms: readonly Alarm['alarm'][]
}

/** Nodes that have the same unhealthy condition. */
export interface NodeConditionCount {
  /** Name of the condition, for example `disk pressure`. */
  readonly condition: string
  readonly nodes: readonly string[]
}

/** Expiry of one certificate of a host. */
export interface CertificateExpiry {
  readonly host: string
  readonly component: string
  readonly file: string
  readonly until: string
}

/**
 * Report of `hyperkube status`, from observations of hosts, etcd and the API over ssh. The Kubernetes object
 * `ClusterStatus` is another summary, which the leading hyperkube-controller-manager writes from Host
 * objects.
 */
export interface StatusReport {
  readonly hosts: readonly HostStatusReport[]
  readonly summary: ClusterStatusReport
}

/** An adoption that is not committed. */
export interface PendingAdoption {
  /** The previous tool. */
  readonly from: AdoptionSource
  /** When hyperkube read the hosts. */
  readonly observed: string
}

/** Counts and recent actions of the whole cluster. */
export interface ClusterStatusReport {
  /** The Kubernetes version in cluster.yml. */
  readonly kubernetes: string
  /** The upgrade that is held; undefined if no upgrade is held. */
  readonly heldUpgrade?: Cluster['spec']['heldUpgrade']
  /** The adoption while hosts can return to the previous tool; undefined after the commit. */
  readonly adoption?: PendingAdoption
  readonly hosts: HealthyCount
  /**
   * True if no control plane was reached, else undefined. The health of nodes, API servers and etcd is then
   * unknown, and all are counted as not healthy.
   */
  readonly controlPlanesUnreachable?: true
  readonly nodes: HealthyCount
  /** Nodes under pressure or without a network, by condition; undefined if there are none. */
  readonly nodeConditions?: readonly NodeConditionCount[]
  readonly etcd: EtcdStatus
  readonly api: HealthyCount
  /** The certificate that expires first, among those of reachable hosts. */
  readonly expiry?: CertificateExpiry
  /** Undefined if the API does not answer. */
  readonly addons?: readonly AddonReadiness[]
  /** Recent actions of agents, newest first. */
  readonly actions: readonly (HealAction & { readonly host: string })[]
  readonly paused: readonly (HealPause & { readonly host: string })[]
}

/** Output of `hyperkube status -o json`. New fields may be added, but existing fields keep their meaning. */
export interface StatusDocument extends StatusReport {
  readonly apiVersion: 'hyperkube.dev/v1'
  readonly kind: 'Status'
  /** Name of the cluster. */
  readonly cluster: string
}

export function buildStatusDocument(cluster: string, { hosts, summary }: StatusReport): StatusDocument {
  return { apiVersion: 'hyperkube.dev/v1', kind: 'Status', cluster, hosts, summary }
}

/** Versions in cluster.yml. */
type VersionSpec = Pick<Cluster['spec'], 'kubernetes' | 'heldUpgrade'>

const maxActions = 10

export function buildStatusReport(
  observation: ClusterHealthObservation,
  spec: VersionSpec,
  { adoption }: Pick<Identity, 'adoption'>,
): StatusReport {
  const summary = summarizeClusterStatus(observation, spec)
  const isPending = adoption !== undefined && adoption.committed === undefined
  return {
    hosts: listHostStatuses(observation),
    summary: isPending
      ? { ...summary, adoption: { from: adoption.from, observed: adoption.observed } }
      : summary,
  }
}

export function summarizeClusterStatus(
  observation: ClusterHealthObservation,
  { kubernetes, heldUpgrade }: VersionSpec,
): ClusterStatusReport {
  const { hosts, api, addons } = observation
  const healths = hosts.flatMap(({ endpoint: { host }, agent }) =>
    agent.state === 'reachable' && agent.health !== undefined ? [{ host, health: agent.health }] : [],
  )
  const nodeConditions = countNodeConditions(observation)
  const expiry = hosts.flatMap(listExpiries).toSorted((a, b) => (a.until < b.until ? -1 : 1))[0]
  return {
    kubernetes,
    ...(heldUpgrade === undefined ? {} : { heldUpgrade }),
    hosts: {
      healthy: hosts.filter(({ unreachable }) => unreachable === undefined).length,
      total: hosts.length,
    },
    ...(areControlPlanesUnreachable(observation) ? { controlPlanesUnreachable: true } : {}),
    nodes: countNodes(observation),
    ...(nodeConditions.length === 0 ? {} : { nodeConditions }),
    etcd: summarizeEtcd(observation),
    api: { healthy: [...api.values()].filter(({ healthy }) => healthy).length, total: api.size },
    ...(expiry === undefined ? {} : { expiry }),
    ...(addons === undefined ? {} : { addons }),
    actions: healths
      .flatMap(({ host, health }) => health.actions.map((action) => ({ host, ...action })))
      .toSorted((a, b) => (a.at > b.at ? -1 : 1))
      .slice(0, maxActions),
    paused: healths.flatMap(({ host, health }) =>
      health.paused === undefined ? [] : [{ host, ...health.paused }],
    ),
  }
}

function areControlPlanesUnreachable({ hosts }: ClusterHealthObservation): boolean {
  const controlPlanes = hosts.filter(({ endpoint: { api, etcd } }) => api || etcd)
  return controlPlanes.length > 0 && controlPlanes.every(({ unreachable }) => unreachable !== undefined)
}

function countNodes({ endpoints, nodes = [] }: ClusterHealthObservation): HealthyCount {
  const names = endpoints.flatMap(({ node }) => node ?? [])
  const ready = nodes.filter(
    (node) => names.includes(node.metadata.name) && explainNotReady(node) === undefined,
  )
  return { healthy: ready.length, total: names.length }
}

function countNodeConditions({ endpoints, nodes = [] }: ClusterHealthObservation): NodeConditionCount[] {
  const names = new Set(endpoints.flatMap(({ node }) => node ?? []))
  const problems = nodes
    .filter(({ metadata }) => names.has(metadata.name))
    .flatMap((node) => listNodeProblems(node).map(({ text }) => ({ text, name: node.metadata.name })))
  return [...Map.groupBy(problems, ({ text }) => text)].map(([condition, affected]) => ({
    condition,
    nodes: affected.map(({ name }) => name),
  }))
}

function summarizeEtcd({ etcd, endpoints }: ClusterHealthObservation): EtcdStatus {
  const total = endpoints.filter(({ etcd: isMember }) => isMember).length
  if (etcd.state === 'unreachable') return { quorum: false, healthy: 0, total, alarms: [] }
  const { members, health, statuses, alarms, confirmed } = etcd.observed
  const leaders = new Set([...statuses.values()].map((status) => status.leader))
  const leader = members.find(({ id }) => leaders.has(id))
  const sizes = [...statuses.values()].map(({ size }) => size)
  return {
    quorum: confirmed,
    healthy: [...health.values()].filter(({ ready }) => ready).length,
    total: members.length,
    ...(leader === undefined ? {} : { leader: formatMember(leader) }),
    ...(sizes.length === 0 ? {} : { size: Math.max(...sizes) }),
    alarms: [...new Set(alarms.map(({ alarm }) => alarm))],
  }
}

function listExpiries({ endpoint: { host }, agent }: HostHealthObservation): CertificateExpiry[] {
  if (agent.state !== 'reachable') return []
  return agent.certificates.flatMap(({ component, file, certificate }) => {
    const facts = certificate === undefined ? undefined : tryInspect(certificate)
    return facts === undefined ? [] : [{ host, component, file, until: facts.notAfter.toISOString() }]
  })
}

/**
 * Inspects a certificate. Returns undefined for invalid text, because the file on the host may have any
 * content.
 */
function tryInspect(pem: string): CertificateFacts | undefined {
  try {
    return inspectCertificate(pem)
  } catch {
    return undefined
  }
}

/** Status of one host. Fields of components that the host does not run are undefined. */
export interface HostStatusReport {
  readonly host: string
  /** Undefined if the host runs Linux. */
  readonly os?: 'windows'
  /** Why the host is unreachable; undefined if it was reached. */
  readonly unreachable: NotReadyReason
  readonly version: string | undefined
  readonly services: HostServicesObservation['services']
  readonly etcd?: HealthResult
  readonly api?: HealthResult
  readonly node?: NodeStatus
  /** The provisional change of the host, either active or rolled back. */
  readonly provisional?: HostProvisionalChange
  /** Why the agent does not answer; undefined if it answers. */
  readonly agentError?: string
  /** Components that the agent reports as not healthy. */
  readonly unhealthy?: readonly ComponentHealth[]
  readonly paused?: HealPause
}

/** Derives the status of each host from an observation. */
export function listHostStatuses(observation: ClusterHealthObservation): HostStatusReport[] {
  return observation.hosts.map((host) => buildHostStatus(host, observation))
}

function buildHostStatus(
  { endpoint, unreachable, version, services, agent }: HostHealthObservation,
  observation: ClusterHealthObservation,
): HostStatusReport {
  const health = agent.state === 'reachable' ? agent.health : undefined
  const provisional = agent.state === 'reachable' ? agent.provisional : undefined
  const api = observation.api.get(endpoint.host)
  return {
    host: endpoint.host,
    ...(endpoint.os === undefined ? {} : { os: endpoint.os }),
    unreachable: unreachable?.reason,
    version,
    services,
    ...(endpoint.etcd ? { etcd: readEtcdHealth(endpoint, observation.etcd) } : {}),
    ...(api === undefined ? {} : { api: unreachable === undefined ? api : toUnknown(api) }),
    ...(endpoint.node === undefined ? {} : { node: readNodeHealth(endpoint.node, observation.nodes) }),
    ...(provisional === undefined ? {} : { provisional }),
    ...(unreachable === undefined && agent.state === 'unreachable' ? { agentError: agent.reason } : {}),
    ...(health === undefined
      ? {}
      : { unhealthy: health.components.filter(({ state }) => state !== 'healthy') }),
    ...(health?.paused === undefined ? {} : { paused: health.paused }),
  }
}

/** True if all components of a host are healthy. A component in state `healing` counts as healthy. */
export function isHostHealthy({
  unreachable,
  services,
  etcd,
  api,
  node,
  agentError,
  unhealthy = [],
}: HostStatusReport): boolean {
  const parts = [etcd, api, node].filter((part) => part !== undefined)
  return (
    unreachable === undefined &&
    agentError === undefined &&
    services.every(({ state }) => state === 'active') &&
    unhealthy.every(({ state }) => state === 'healing') &&
    parts.every(({ healthy }) => healthy)
  )
}

function readEtcdHealth(
  { host, address }: HostEndpoint,
  etcd: ClusterHealthObservation['etcd'],
): HealthResult {
  if (etcd.state === 'unreachable') return { healthy: false, reason: etcd.reason, unknown: true }
  const { members, health } = etcd.observed
  const member = members.find(isMemberOf({ name: host, address }))
  if (member === undefined) return { healthy: false, reason: 'not an etcd member' }
  const memberHealth = health.get(member.id)
  return toHealthResult(memberHealth?.ready === true ? undefined : (memberHealth?.reason ?? 'unknown reason'))
}

function readNodeHealth(name: string, nodes: readonly Node[] | undefined): NodeStatus {
  if (nodes === undefined) return { healthy: false, reason: 'no API server is reachable', unknown: true }
  return readNodeStatus(nodes.find(({ metadata }) => metadata.name === name))
}

/** Marks a failed check of an unreachable host as unknown, because the check needs a connection to the host. */
function toUnknown(result: HealthResult): HealthResult {
  return result.healthy ? result : { ...result, unknown: true }
}
