import type { ClusterStatus } from '../../contract/cluster-status.ts'
import type { HostStatus } from '../../contract/host-resource.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { clusterStatuses, clusterStatusName } from '../../kube/cluster-status.ts'
import { hosts as hostKind } from '../../kube/host-resource.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { leases } from '../../kube/lease.ts'
import { find, list } from '../../kube/read-objects.ts'
import type { CallOptions } from '../../kube/request.ts'
import type { Place } from '../../kube/object.ts'
import { type Node, nodeKind } from '../cluster-objects/node.ts'
import { whyNotReady } from '../cluster-objects/node-readiness.ts'
import { type Well, wellOf } from '../observe/observe-cluster.ts'

/** What the API has of a host. What nobody has said is undefined. */
export interface ReportedHost {
  /** Of its node. */
  readonly host: string
  /** Nothing was heard of its agent for longer than agents are silent. */
  readonly silent: boolean
  readonly node?: Well & { readonly version?: string }
  /** As its agent and controllers have written it. */
  readonly status: HostStatus
}

/** What a cluster says of itself, with nobody looking at its hosts. */
export interface Reported {
  /** None: no controller manager has ever led. */
  readonly summary?: ClusterStatus
  /** When whoever keeps the summary gave a sign of life. */
  readonly kept?: string
  readonly hosts: readonly ReportedHost[]
}

/** What is known of controllers, who are elsewhere. */
export interface Controllers {
  /** Which they lead by. */
  readonly lease: Place
  /** After so many milliseconds they take an agent for silent. */
  readonly silentAfter: number
}

export async function readReported(
  client: KubeClient,
  { lease: place, silentAfter }: Controllers,
  now: Date,
  options: CallOptions,
): Promise<Reported> {
  const [nodes, hosts, summary, lease] = await Promise.all([
    list(client, nodeKind, options),
    list(client, hostKind, options).catch((error: unknown) => {
      throw isKubeError(error, 'KUBE_NOT_FOUND') || isKubeError(error, 'KUBE_KIND_UNKNOWN')
        ? notTold(error)
        : error
    }),
    find(client, clusterStatuses, { name: clusterStatusName }, options),
    find(client, leases, place, options),
  ])
  const kept = lease?.spec?.renewTime ?? undefined
  const words = new Map(hosts.items.map(({ metadata, status }) => [metadata.name, status]))
  const known = new Map(nodes.items.map((node) => [node.metadata.name, node]))
  return {
    ...(summary?.status === undefined ? {} : { summary: summary.status }),
    ...(kept === undefined ? {} : { kept }),
    hosts: [...new Set([...words.keys(), ...known.keys()])]
      .toSorted()
      .map((host) => reportedHost(host, words.get(host) ?? {}, known.get(host), now.getTime() - silentAfter)),
  }
}

function reportedHost(
  host: string,
  status: HostStatus,
  node: Node | undefined,
  /** Who was heard before it is silent. One that is ahead of us has another clock, and lives. */
  before: number,
): ReportedHost {
  const version = node?.status?.nodeInfo?.kubeletVersion
  const { heartbeat } = status
  return {
    host,
    silent: heartbeat === undefined || Date.parse(heartbeat) < before,
    ...(node === undefined
      ? {}
      : { node: { ...wellOf(whyNotReady(node)), ...(version === undefined ? {} : { version }) } }),
    status,
  }
}

/** Whether all that is said of a host is good. That its agent waits for what it did is no fault any more. */
export function isReportedWell({ silent, node, status }: ReportedHost): boolean {
  const { components = [], failing = [], etcd } = status
  return (
    !silent &&
    node?.well !== false &&
    components.every(({ state }) => state === 'well' || state === 'healing') &&
    failing.length === 0 &&
    etcd?.ready !== false &&
    (etcd?.alarms ?? []).length === 0
  )
}

function notTold(cause: unknown): HyperkubeError {
  return new HyperkubeError('STATUS_NOT_TOLD', 'this cluster says nothing of its hosts', {
    hint: 'hyperkube status without --from-api looks at them by ssh; hyperkube up has agents tell the cluster',
    cause,
  })
}
