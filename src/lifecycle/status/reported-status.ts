import type { ClusterStatus } from '../../contract/cluster-status.ts'
import type { HostStatus } from '../../contract/host-resource.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { clusterStatusKind, clusterStatusName } from '../../kube/cluster-status.ts'
import { hostKind } from '../../kube/host-resource.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { leases } from '../../kube/lease.ts'
import type { NamespacedName } from '../../kube/object.ts'
import { findObject, listObjects } from '../../kube/read-objects.ts'
import { type Node, nodeKind } from '../cluster-objects/node.ts'
import { type NodeStatus, readNodeStatus } from './node-status.ts'

/** What the API reports about a host. Fields that were not reported are undefined. */
export interface ReportedHost {
  /** Node name of the host. */
  readonly host: string
  /** True if the last heartbeat of the agent is older than the timeout. */
  readonly heartbeatExpired: boolean
  readonly node?: NodeStatus
  /** Status of the Host object, written by the agent and the controllers. */
  readonly status: HostStatus
}

/**
 * Status that the cluster reports through the API, without ssh to its hosts: the ClusterStatus object and
 * the Host objects.
 */
export interface ReportedStatus {
  /** Undefined if no controller manager has ever been leader. */
  readonly summary?: ClusterStatus
  /** Time when the leader last renewed its lease. The leader writes the summary. */
  readonly leaderRenewedAt?: string
  readonly hosts: readonly ReportedHost[]
}

/**
 * Settings of the controller manager. The caller passes them, because code in src/lifecycle must not import
 * src/manager.
 */
export interface ControllerSettings {
  /** Lease of the leader election. */
  readonly lease: NamespacedName
  /** A heartbeat of an agent that is older than this, in milliseconds, counts as expired. */
  readonly heartbeatTimeoutMs: number
}

/**
 * A healthy API answers at once. The timeout is longer than usual, because there is no other source of the
 * status.
 */
const requestTimeoutMs = 15_000

export async function readReportedStatus(
  client: KubeClient,
  { lease: leaseRef, heartbeatTimeoutMs }: ControllerSettings,
  now: Date,
  signal: AbortSignal,
): Promise<ReportedStatus> {
  const options = { signal, timeout: requestTimeoutMs }
  const [nodes, hosts, summary, lease] = await Promise.all([
    listObjects(client, nodeKind, options),
    listObjects(client, hostKind, options).catch((error: unknown) => {
      throw isKubeError(error, 'KUBE_NOT_FOUND') || isKubeError(error, 'KUBE_KIND_UNKNOWN')
        ? buildUnavailableError(error)
        : error
    }),
    findObject(client, clusterStatusKind, { name: clusterStatusName }, options),
    findObject(client, leases, leaseRef, options),
  ])
  const leaderRenewedAt = lease?.spec?.renewTime ?? undefined
  const statusByName = new Map(hosts.items.map(({ metadata, status }) => [metadata.name, status]))
  const nodesByName = new Map(nodes.items.map((node) => [node.metadata.name, node]))
  return {
    ...(summary?.status === undefined ? {} : { summary: summary.status }),
    ...(leaderRenewedAt === undefined ? {} : { leaderRenewedAt }),
    hosts: [...new Set([...statusByName.keys(), ...nodesByName.keys()])]
      .toSorted()
      .map((host) =>
        buildReportedHost(
          host,
          statusByName.get(host) ?? {},
          nodesByName.get(host),
          now.getTime() - heartbeatTimeoutMs,
        ),
      ),
  }
}

function buildReportedHost(
  host: string,
  status: HostStatus,
  node: Node | undefined,
  /**
   * Time in milliseconds; older heartbeats count as expired. A heartbeat in the future comes from a clock
   * that is ahead, and is valid.
   */
  oldestHeartbeat: number,
): ReportedHost {
  const { heartbeat } = status
  return {
    host,
    heartbeatExpired: heartbeat === undefined || Date.parse(heartbeat) < oldestHeartbeat,
    ...(node === undefined ? {} : { node: readNodeStatus(node) }),
    status,
  }
}

/**
 * True if everything that was reported about a host is healthy. A component in state `healing` counts as
 * healthy.
 */
export function isReportedHealthy({ heartbeatExpired, node, status }: ReportedHost): boolean {
  const { components = [], failing = [], etcd } = status
  return (
    !heartbeatExpired &&
    node?.healthy !== false &&
    components.every(({ state }) => state === 'healthy' || state === 'healing') &&
    failing.length === 0 &&
    etcd?.ready !== false &&
    (etcd?.alarms ?? []).length === 0
  )
}

function buildUnavailableError(cause: unknown): HyperkubeError {
  return new HyperkubeError('STATUS_UNAVAILABLE', 'this cluster does not report the status of its hosts', {
    hint: 'read the hosts over ssh: hyperkube status; to make agents report to the API: hyperkube up',
    cause,
  })
}
