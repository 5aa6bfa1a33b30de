import type { ComponentHealth, HealPause } from '../../contract/health.ts'
import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import type { Node } from '../cluster-objects/node.ts'
import { explainNotReady } from '../cluster-objects/node-readiness.ts'
import type { HostHealthObservation } from '../observe/observe-host.ts'
import {
  type ClusterHealthObservation,
  type HealthResult,
  toHealthResult,
} from '../observe/observe-cluster.ts'
import { hasPeerAddress } from '../etcd-membership.ts'
import type { NotReadyReason } from '../cluster-access.ts'
import type { HostEndpoint } from '../host-endpoints.ts'
import type { HostServicesObservation } from '../observe/services.ts'

/** Status of one host. Fields of components that the host does not run are undefined. */
export interface ObservedHostStatus {
  readonly host: string
  /** Undefined if the host runs Linux. */
  readonly os?: 'windows'
  /** Why the host is unreachable; undefined if it was reached. */
  readonly unreachable: NotReadyReason
  readonly version: string | undefined
  readonly services: HostServicesObservation['services']
  readonly etcd?: HealthResult
  readonly api?: HealthResult
  readonly node?: HealthResult & { readonly version?: string }
  /** The provisional change of the host, either active or rolled back. */
  readonly provisional?: HostProvisionalChange
  /** Why the agent does not answer; undefined if it answers. */
  readonly agentError?: string
  /** Components that the agent reports as not healthy. */
  readonly unhealthy?: readonly ComponentHealth[]
  readonly paused?: HealPause
}

/** Derives the status of each host from an observation. */
export function listHostStatuses(observation: ClusterHealthObservation): ObservedHostStatus[] {
  return observation.hosts.map((host) => buildHostStatus(host, observation))
}

function buildHostStatus(
  { endpoint, unreachable, version, services, agent }: HostHealthObservation,
  observation: ClusterHealthObservation,
): ObservedHostStatus {
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
    ...(api === undefined ? {} : { api }),
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
}: ObservedHostStatus): boolean {
  const parts = [etcd, api, node].filter((part) => part !== undefined)
  return (
    unreachable === undefined &&
    agentError === undefined &&
    services.every(({ state }) => state === 'active') &&
    unhealthy.every(({ state }) => state === 'healing') &&
    parts.every(({ healthy }) => healthy)
  )
}

function readEtcdHealth({ address }: HostEndpoint, etcd: ClusterHealthObservation['etcd']): HealthResult {
  if (etcd.state === 'unreachable') return { healthy: false, reason: etcd.reason }
  const { members, health } = etcd.observed
  const member = members.find(hasPeerAddress(address))
  if (member === undefined) return { healthy: false, reason: 'it is not a member' }
  const memberHealth = health.get(member.id)
  return toHealthResult(memberHealth?.ready === true ? undefined : (memberHealth?.reason ?? 'unknown reason'))
}

function readNodeHealth(
  name: string,
  nodes: readonly Node[] | undefined,
): HealthResult & { readonly version?: string } {
  if (nodes === undefined) return { healthy: false, reason: 'no API server is reachable' }
  const node = nodes.find(({ metadata }) => metadata.name === name)
  const version = node?.status?.nodeInfo?.kubeletVersion
  return { ...toHealthResult(explainNotReady(node)), ...(version === undefined ? {} : { version }) }
}
