import type { HealAction, HealPause } from '../../contract/health.ts'
import { type Alarm, formatMember } from '../../etcd/member.ts'
import { type CertificateFacts, inspectCertificate } from '../../pki/inspect.ts'
import { explainNotReady } from '../cluster-objects/node-readiness.ts'
import type { HostHealthObservation } from '../observe/observe-host.ts'
import type { ClusterHealthObservation } from '../observe/observe-cluster.ts'
import type { AddonReadiness } from './addon-readiness.ts'

/** Number of healthy items, and of all items. */
export interface HealthyCount {
  readonly healthy: number
  readonly total: number
}

export interface EtcdStatus extends HealthyCount {
  readonly quorum: boolean
  readonly leader?: string
  /** Size of the largest database of a member, in bytes. */
  readonly size?: number
  readonly alarms: readonly Alarm['alarm'][]
}

/** Expiry of one certificate of a host. */
export interface CertificateExpiry {
  readonly host: string
  readonly component: string
  readonly file: string
  readonly until: string
}

/** Status of the whole cluster. */
export interface ObservedClusterStatus {
  /** The Kubernetes version in cluster.yml. */
  readonly kubernetes: string
  readonly hosts: HealthyCount
  readonly nodes: HealthyCount
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

const maxActions = 10

export function summarizeClusterStatus(
  observation: ClusterHealthObservation,
  kubernetes: string,
  addons: readonly AddonReadiness[] | undefined,
): ObservedClusterStatus {
  const { hosts, api } = observation
  const healths = hosts.flatMap(({ endpoint: { host }, agent }) =>
    agent.state === 'reachable' && agent.health !== undefined ? [{ host, health: agent.health }] : [],
  )
  const expiry = hosts.flatMap(listExpiries).toSorted((a, b) => (a.until < b.until ? -1 : 1))[0]
  return {
    kubernetes,
    hosts: {
      healthy: hosts.filter(({ unreachable }) => unreachable === undefined).length,
      total: hosts.length,
    },
    nodes: countNodes(observation),
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

function countNodes({ endpoints, nodes = [] }: ClusterHealthObservation): HealthyCount {
  const names = endpoints.flatMap(({ node }) => node ?? [])
  const ready = nodes.filter(
    (node) => names.includes(node.metadata.name) && explainNotReady(node) === undefined,
  )
  return { healthy: ready.length, total: names.length }
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
