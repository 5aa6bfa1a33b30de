import type { EtcdObservation } from '../../etcd/member.ts'
import { formatError } from '../../kit/errors.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { AddonReadiness } from '../../addons/addon-readiness.ts'
import type { ClusterClient, NotReadyReason } from '../cluster-client/cluster-client.ts'
import { explainNotReady, type Node } from '../cluster-objects/node.ts'
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
  /** Installed addons; undefined if the API does not answer. */
  readonly addons: readonly AddonReadiness[] | undefined
}

/** Connections that an observation uses. */
export interface ObserveDeps {
  readonly connect: (host: string) => Promise<Remote>
  readonly client: Pick<ClusterClient, 'observeEtcd' | 'apiReady' | 'listNodes' | 'checkAddons'>
}

export interface ObserveOptions extends HostObserveOptions {
  readonly now: () => Date
  /** Hosts to observe; all if undefined. */
  readonly only?: ReadonlySet<string>
}

/**
 * Timeout for observing etcd. It is long enough even if two of three members are down and each request to
 * them must time out first.
 */
const etcdTimeoutMs = 20_000
const apiTimeoutMs = 12_000
/** Timeout for checking addons, which have few objects. A healthy API returns them quickly. */
const addonTimeoutMs = 10_000

/** Observes everything concurrently with short timeouts. Changes nothing, and fails only if aborted. */
export async function observeClusterHealth(
  endpoints: readonly HostEndpoint[],
  deps: ObserveDeps,
  options: ObserveOptions,
): Promise<ClusterHealthObservation> {
  const { only, now, signal } = options
  const [hosts, etcd, api, objects] = await Promise.all([
    Promise.all(
      endpoints
        .filter(({ host }) => only === undefined || only.has(host))
        .map(async (endpoint) => observeHost(endpoint, async () => deps.connect(endpoint.host), options)),
    ),
    observeEtcd(deps, signal),
    observeApiServers(endpoints, deps, signal),
    observeObjects(deps, signal),
  ])
  signal.throwIfAborted()
  return { at: now(), endpoints, hosts, etcd, api, ...objects }
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

/**
 * Reads the nodes, then the addons. The check of addons needs the number of nodes that are not ready, because
 * a DaemonSet has no ready pods on them.
 */
async function observeObjects(
  { client }: ObserveDeps,
  signal: AbortSignal,
): Promise<Pick<ClusterHealthObservation, 'nodes' | 'addons'>> {
  const nodes = await callWithTimeout(apiTimeoutMs, signal, client.listNodes).catch(() => undefined)
  if (nodes === undefined) return { nodes, addons: undefined }
  const notReadyCount = nodes.filter((node) => explainNotReady(node) !== undefined).length
  const addons = await callWithTimeout(addonTimeoutMs, signal, async (stepSignal) =>
    client.checkAddons(notReadyCount, stepSignal),
  ).catch(() => undefined)
  return { nodes, addons }
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
