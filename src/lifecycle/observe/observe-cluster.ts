import type { EtcdObservation } from '../../etcd/member.ts'
import { formatError } from '../../kit/errors.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { ClusterClient, NotReadyReason } from '../cluster-client/cluster-client.ts'
import type { Node } from '../cluster-objects/node.ts'
import type { HostEndpoint } from '../inputs/host-endpoints.ts'
import { callWithTimeout } from './observe-agent.ts'
import { type HostHealthObservation, type HostObserveOptions, observeHost } from './observe-host.ts'

export type HealthResult = { readonly healthy: true } | { readonly healthy: false; readonly reason: string }

/**
 * The health of a cluster at one time: the state of each host, and of etcd, the API and nodes as the operator
 * reaches them.
 */
export interface ClusterHealthObservation {
  readonly at: Date
  /** All endpoints of the cluster, including hosts that were not observed. */
  readonly endpoints: readonly HostEndpoint[]
  readonly hosts: readonly HostHealthObservation[]
  readonly etcd:
    | { readonly state: 'observed'; readonly observed: EtcdObservation }
    | { readonly state: 'unreachable'; readonly reason: string }
  /** Health of every API server, by host. */
  readonly api: ReadonlyMap<string, HealthResult>
  /** Undefined if the API does not answer. */
  readonly nodes: readonly Node[] | undefined
}

/** Connections that an observation uses. */
export interface ObserveDeps {
  readonly connect: (host: string) => Promise<Remote>
  readonly client: Pick<ClusterClient, 'observeEtcd' | 'apiReady' | 'listNodes'>
}

export interface ObserveOptions extends HostObserveOptions {
  readonly now: () => Date
  /** Hosts to observe; all if undefined. */
  readonly only?: ReadonlySet<string>
}

/** Long enough if two of three members are down: each request to such a member must time out first. */
const etcdTimeoutMs = 20_000
const apiTimeoutMs = 12_000

/** Observes everything concurrently with short timeouts. Changes nothing, and fails only if aborted. */
export async function observeClusterHealth(
  endpoints: readonly HostEndpoint[],
  deps: ObserveDeps,
  options: ObserveOptions,
): Promise<ClusterHealthObservation> {
  const { only, now, signal } = options
  const [hosts, etcd, api, nodes] = await Promise.all([
    Promise.all(
      endpoints
        .filter(({ host }) => only === undefined || only.has(host))
        .map(async (endpoint) => observeHost(endpoint, async () => deps.connect(endpoint.host), options)),
    ),
    observeEtcd(deps, signal),
    observeApiServers(endpoints, deps, signal),
    callWithTimeout(apiTimeoutMs, signal, deps.client.listNodes).catch(() => undefined),
  ])
  signal.throwIfAborted()
  return { at: now(), endpoints, hosts, etcd, api, nodes }
}

async function observeEtcd(
  { client }: ObserveDeps,
  signal: AbortSignal,
): Promise<ClusterHealthObservation['etcd']> {
  try {
    return { state: 'observed', observed: await callWithTimeout(etcdTimeoutMs, signal, client.observeEtcd) }
  } catch (error) {
    return { state: 'unreachable', reason: formatError(error) }
  }
}

async function observeApiServers(
  endpoints: readonly HostEndpoint[],
  { client }: ObserveDeps,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, HealthResult>> {
  const servers = endpoints.filter(({ api }) => api)
  const results = await Promise.all(
    servers.map(async ({ host }) => {
      const reason = await callWithTimeout(apiTimeoutMs, signal, async () => client.apiReady([host])).catch(
        formatError,
      )
      return [host, toHealthResult(reason)] as const
    }),
  )
  return new Map(results)
}

export function toHealthResult(reason: NotReadyReason): HealthResult {
  return reason === undefined ? { healthy: true } : { healthy: false, reason }
}
