import type { EtcdObservation } from '../../etcd/member.ts'
import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { AddonReadiness } from '../../addons/addon-readiness.ts'
import type { IngressObservation } from '../../addons/nginx-annotations.ts'
import type { ClusterClient, NotReadyReason } from '../cluster-client/cluster-client.ts'
import { explainNotReady, isSilent, type Node } from '../cluster-objects/node.ts'
import type { HostEndpoint } from '../inputs/host-endpoints.ts'
import { callWithTimeout } from './observe-agent.ts'
import { type HostHealthObservation, type HostObserveOptions, observeHost } from './observe-host.ts'

export type HealthResult =
  | { readonly healthy: true }
  | {
      readonly healthy: false
      readonly reason: string
      /** True if the health could not be observed. The part may be healthy. */
      readonly unknown?: true
    }

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
  /** Ingresses; undefined if they were not requested or the API does not answer. */
  readonly ingress?: IngressObservation | undefined
}

/** Connections that an observation uses. */
export interface ObserveDeps {
  readonly connect: (host: string) => Promise<Remote>
  readonly client: Pick<
    ClusterClient,
    'observeEtcd' | 'apiReady' | 'listNodes' | 'checkAddons' | 'listIngresses'
  >
}

export interface ObserveOptions extends HostObserveOptions {
  readonly now: () => Date
  /** Hosts to observe; all if undefined. */
  readonly only?: ReadonlySet<string>
  /** Also lists Ingresses, to be judged by these settings of `spec.ingress`. */
  readonly ingress?: Pick<IngressObservation, 'nginxAnnotations'>
  /**
   * Hosts and services that do not answer within this time are reported as unreachable. Undefined means no
   * limit.
   */
  readonly timeoutMs?: number
  /** Called whenever a host or service has answered, with the names of those that have not answered yet. */
  readonly onPending?: (names: readonly string[]) => void
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
  const { only, now, timeoutMs, onPending = () => undefined } = options
  const timeout = new AbortController()
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => timeout.abort(buildTimeout(timeoutMs)), timeoutMs)
  const signal = AbortSignal.any([options.signal, timeout.signal])
  const pending = new Set<string>()
  const track = async <T>(name: string, observation: Promise<T>): Promise<T> => {
    pending.add(name)
    return observation.finally(() => {
      pending.delete(name)
      onPending([...pending])
    })
  }
  try {
    const readiness = checkApiServers(endpoints, deps, signal)
    const [hosts, etcd, api, objects, ingress] = await Promise.all([
      Promise.all(
        endpoints
          .filter(({ host }) => only === undefined || only.has(host))
          .map(async (endpoint) =>
            track(
              endpoint.host,
              observeHost(endpoint, async () => deps.connect(endpoint.host), { ...options, signal }),
            ),
          ),
      ),
      track('etcd', observeEtcd(endpoints, deps, signal)),
      track(
        'API servers',
        Promise.all(readiness).then((results) => new Map(results)),
      ),
      track('nodes', observeObjects(endpoints, readiness, deps, signal)),
      options.ingress === undefined
        ? undefined
        : track('Ingresses', observeIngresses(endpoints, deps, options.ingress, signal)),
    ])
    options.signal.throwIfAborted()
    return { at: now(), endpoints, hosts, etcd, api, ...objects, ingress }
  } finally {
    clearTimeout(timer)
  }
}

function buildTimeout(timeoutMs: number): HyperkubeError {
  return new HyperkubeError('TIMED_OUT', `no answer within ${formatDuration(timeoutMs)}`)
}

/**
 * Throws if no host can be reached by ssh. The clients of etcd and the API retry lost connections, so without
 * this check they would wait for their timeout.
 */
async function requireReachableHost(
  hosts: readonly HostEndpoint[],
  { connect }: ObserveDeps,
  signal: AbortSignal,
): Promise<void> {
  await callWithTimeout(apiTimeoutMs, signal, async () =>
    Promise.any(hosts.map(async ({ host }) => connect(host))),
  ).catch((error: unknown) => {
    throw error instanceof AggregateError ? error.errors[0] : error
  })
}

async function observeEtcd(
  endpoints: readonly HostEndpoint[],
  deps: ObserveDeps,
  signal: AbortSignal,
): Promise<ClusterHealthObservation['etcd']> {
  const { client } = deps
  try {
    const members = endpoints.filter(({ etcd }) => etcd)
    await requireReachableHost(members, deps, signal)
    return { state: 'observed', observed: await callWithTimeout(etcdTimeoutMs, signal, client.observeEtcd) }
  } catch (error) {
    return { state: 'unreachable', reason: formatError(error) }
  }
}

/**
 * Reads the nodes, then the addons. The check of addons needs the number of nodes that are not ready, because
 * a DaemonSet has no ready pods on them. The network addon is the exception: its pods start on nodes that are
 * not ready, unless the kubelet no longer reports. The nodes are read after the first result of `readiness`,
 * so that they use the same connection: a TLS handshake through ssh costs more than a request.
 */
async function observeObjects(
  endpoints: readonly HostEndpoint[],
  readiness: readonly Promise<unknown>[],
  deps: ObserveDeps,
  signal: AbortSignal,
): Promise<Pick<ClusterHealthObservation, 'nodes' | 'addons'>> {
  const { client } = deps
  const servers = endpoints.filter(({ api }) => api)
  const nodes = await requireReachableHost(servers, deps, signal)
    .then(async () => Promise.race(readiness))
    .then(async () => callWithTimeout(apiTimeoutMs, signal, client.listNodes))
    .catch(() => undefined)
  if (nodes === undefined) return { nodes, addons: undefined }
  const notReadyCount = nodes.filter((node) => explainNotReady(node) !== undefined).length
  const silentCount = nodes.filter(isSilent).length
  const networkAddons = new Set(endpoints.map(({ networkAddon }) => networkAddon))
  const addons = await callWithTimeout(addonTimeoutMs, signal, async (stepSignal) =>
    client.checkAddons((addon) => (networkAddons.has(addon) ? silentCount : notReadyCount), stepSignal),
  ).catch(() => undefined)
  return { nodes, addons }
}

async function observeIngresses(
  endpoints: readonly HostEndpoint[],
  deps: ObserveDeps,
  settings: Pick<IngressObservation, 'nginxAnnotations'>,
  signal: AbortSignal,
): Promise<IngressObservation | undefined> {
  const servers = endpoints.filter(({ api }) => api)
  return requireReachableHost(servers, deps, signal)
    .then(async () => ({
      ...settings,
      ...(await callWithTimeout(apiTimeoutMs, signal, deps.client.listIngresses)),
    }))
    .catch(() => undefined)
}

/** Checks all API servers. Each promise resolves to a host and the health of its API server. */
function checkApiServers(
  endpoints: readonly HostEndpoint[],
  deps: ObserveDeps,
  signal: AbortSignal,
): Promise<readonly [host: string, HealthResult]>[] {
  return endpoints
    .filter(({ api }) => api)
    .map(async (server) => {
      const reason = await requireReachableHost([server], deps, signal)
        .then(async () =>
          callWithTimeout(apiTimeoutMs, signal, async () => deps.client.apiReady([server.host])),
        )
        .catch(formatError)
      return [server.host, toHealthResult(reason)] as const
    })
}

export function toHealthResult(reason: NotReadyReason): HealthResult {
  return reason === undefined ? { healthy: true } : { healthy: false, reason }
}
