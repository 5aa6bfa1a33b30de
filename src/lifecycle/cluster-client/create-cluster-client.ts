import { applyAddon, applyAddonNoWait, removeAddon } from '../../addons/apply-addon.ts'
import { ingressClassKind, ingressKind } from '../../addons/nginx-annotations.ts'
import type { EtcdClient, MembersOptions } from '../../etcd/client.ts'
import { ignoreEtcdError, isEtcdError } from '../../etcd/etcd-error.ts'
import { observeEtcd } from '../../etcd/observe.ts'
import { trustedCas } from '../../identity/trusted-keys.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { formatHostPort } from '../../kit/host-port.ts'
import type { KubeClient } from '../../kube/client.ts'
import { findObject, listObjects } from '../../kube/read-objects.ts'
import { refuseRemovedHost } from '../../kube/removed-hosts.ts'
import { checkReadiness, getServerVersion as versionOf, toServedVersion } from '../../kube/readiness.ts'
import { deleteKubeObject as removeObject } from '../../kube/write-objects.ts'
import { checkAddonReadiness } from '../addons/addon-status.ts'
import { noAddons } from '../addons/proposal.ts'
import { proposeAddonChanges } from '../addons/propose-addons.ts'
import { syncNodeLabels } from '../cluster-objects/node-settings.ts'
import type { ManagedObjects } from '../cluster-objects/managed-objects.ts'
import { explainNotReady, explainNotReadyNodes, type Node, nodeKind } from '../cluster-objects/node.ts'
import {
  applyObjectChanges,
  findObjectChanges,
  removeHostObjects,
} from '../cluster-objects/object-changes.ts'
import { uncordonAfterRollout } from '../drain/cordon.ts'
import { drain } from '../drain/drain.ts'
import { forecastDrains } from '../drain/forecast.ts'
import {
  isMemberOf,
  joinEtcd,
  type KnownEtcdMember,
  type MemberHost,
  prepareEtcdUpgrade,
  promoteLearner,
  releaseEtcdLeadership,
  removeEtcdMember,
} from '../etcd/membership.ts'
import type { HostEndpoint } from '../inputs/host-endpoints.ts'
import { createSmokeTestPods } from '../smoke-test/smoke-test-pods.ts'
import type { ClusterClient, NotReadyReason } from './cluster-client.ts'
import {
  buildEtcdUrl,
  createOperatorApiClient,
  createOperatorEtcdClient,
  dialOnHost,
  dialThroughHosts,
  type FindRemote,
} from './connections.ts'
import { checkControllers } from './controller-health.ts'
import type { OperatorAccess } from './operator-credentials.ts'
import { checkKubeProxyVersion } from './kube-proxy-version.ts'
import { checkRemovedApis } from './removed-apis.ts'

export interface ClusterClientOptions extends OperatorAccess {
  readonly apiPort: number
  /** Objects that hyperkube manages in the cluster. Without them no objects are compared. */
  readonly objects?: ManagedObjects
  readonly findRemote: FindRemote
  /**
   * Milliseconds to wait for one API server before the next one is tried. Undefined means the default of the
   * client.
   */
  readonly serverTimeoutMs?: number
  /** Maximum number of connections to one etcd member. Undefined means no limit. */
  readonly maxEtcdConnections?: number
  readonly signal: AbortSignal
}

/**
 * Milliseconds to wait for an etcd member or API server. A healthy server answers at once. A slower one
 * counts as unreachable.
 */
export const serverTimeoutMs = 3000

export async function createClusterClient(
  endpoints: readonly HostEndpoint[],
  options: ClusterClientOptions,
): Promise<ClusterClient> {
  const { identity, apiPort, objects, findRemote, now, serverTimeoutMs: responseMs, signal } = options
  const { maxEtcdConnections: maxConnections } = options
  const dial = dialThroughHosts(endpoints, findRemote)
  const addressByHost = new Map(endpoints.map(({ host, address }) => [host, address]))
  const etcdUrl = (host: string): string => buildEtcdUrl({ host, address: addressByHost.get(host) })
  const apiUrl = (host: string): string =>
    `https://${formatHostPort(addressByHost.get(host) ?? host, apiPort)}`

  const memberHosts = endpoints.filter(({ etcd: isMember }) => isMember).map(({ host }) => host)
  const etcd = await createOperatorEtcdClient(options, {
    servers: memberHosts.map(etcdUrl),
    dial,
    maxConnections,
    signal,
  })
  const controlPlanes = endpoints.filter(({ api: isServer }) => isServer).map(({ host }) => host)
  const servers = controlPlanes.map(apiUrl)
  const timing = responseMs === undefined ? {} : { responseMs }
  const api = await createOperatorApiClient(options, { servers, dial, timing, signal })
  const pods = createSmokeTestPods(api)
  const readObjectChanges = async () => (objects === undefined ? [] : findObjectChanges(api, objects))
  const nodeNames = new Map(endpoints.map(({ host, node }) => [host, node ?? host]))
  const nodeName = (host: string): string => nodeNames.get(host) ?? host
  const membersWithSnapshot = new Set<string>()
  const toMember = (host: string): MemberHost => ({ name: host, address: addressByHost.get(host) })
  // A host that joins was reachable, so its address is known.
  const toJoining = (host: string) => ({ name: host, address: addressByHost.get(host) ?? host })

  return {
    api,
    async readApiState(addons) {
      if (!(await isAnyReady(api, servers))) return undefined
      const [nodes, versions, changes, smokeTests, differences] = await Promise.all([
        listObjects(api, nodeKind),
        readVersions(api, servers),
        readObjectChanges(),
        pods.list(),
        addons === undefined ? noAddons : proposeAddonChanges(api, addons, { identity, now }),
      ])
      return {
        nodes: nodes.items,
        versions,
        objects: changes,
        smokeTestNodes: [...smokeTests.keys()],
        addons: differences,
      }
    },
    applyObjects: async () => applyObjectChanges(api, await readObjectChanges()),
    syncNodeLabels: async (some) => syncNodeLabels(api, some),
    smokeTestPods: pods,
    applyAddonNoWait: async (addon, wait) => applyAddonNoWait(api, addon, wait),
    async applyAddon(addon, wait) {
      const { items } = await listObjects(api, nodeKind)
      const notReadyCount = items.filter((node) => explainNotReady(node) !== undefined).length
      return applyAddon(api, addon, { ...wait, notReadyCount })
    },
    removeAddon: async (name, wait) => removeAddon(api, name, wait),
    joinEtcd: async (host, wait) => joinEtcd(etcd, toJoining(host), wait),
    promote: async (host, wait) => promoteLearner(etcd, toJoining(host), wait),
    removeEtcdMember: async (host) => removeEtcdMember(etcd, toMember(host)),
    prepareEtcdUpgrade: async (host, next, wait) =>
      prepareEtcdUpgrade(etcd, { ...toMember(host), ...next }, membersWithSnapshot, wait),
    releaseEtcdLeadership: async (host) => releaseEtcdLeadership(etcd, toMember(host)),
    async drain(host, { lost, waiting, timeoutMs, now: clock, signal: until }) {
      const since = clock().toISOString()
      await drain(api, nodeName(host), {
        deadline: timeoutMs,
        force: true,
        lost,
        waiting: (reason) => waiting(reason, since),
        now: clock,
        signal: until,
      })
    },
    uncordon: async (host) => uncordonAfterRollout(api, nodeName(host)),
    async removeNode(host) {
      const name = nodeName(host)
      // If a host of cluster.yml has this node name, the API must continue to accept its writes.
      if (objects?.nodes.has(name) !== true) await refuseRemovedHost(api, name, now)
      await removeHostObjects(api, name)
      await removeObject(api, nodeKind, { name })
    },
    observeEtcd: async (until) => observeEtcd(etcd, { signal: until, timeoutMs: serverTimeoutMs }),
    listNodes: async (until) => (await listObjects(api, nodeKind, { signal: until })).items,
    checkAddons: async (countMissing, until) => checkAddonReadiness(api, countMissing, { signal: until }),
    async listIngresses(until) {
      const [ingresses, classes] = await Promise.all([
        listObjects(api, ingressKind, { signal: until }),
        listObjects(api, ingressClassKind, { signal: until }),
      ])
      return { ingresses: ingresses.items, classes: classes.items }
    },
    // The list is empty if etcd does not exist yet or has no quorum.
    members: async () => listMembers(etcd, { timeoutMs: serverTimeoutMs }),
    unconfirmedMembers: async () => listMembers(etcd, { timeoutMs: serverTimeoutMs, unconfirmed: true }),
    async etcdIds() {
      const ids = await settleAll(
        memberHosts.map(async (host) => [host, await readClusterId(etcd, etcdUrl(host))] as const),
      )
      return new Map(ids.flatMap(([host, id]) => (id === undefined ? [] : [[host, id]])))
    },
    async etcdHealthy(hosts) {
      return findFirstNotReady(hosts, async (host) => {
        const { ready: isHealthy, reason } = await etcd.health(etcdUrl(host))
        return isHealthy ? undefined : (reason ?? 'etcd reports no reason')
      })
    },
    async apiReady(hosts) {
      return findFirstNotReady(hosts, async (host) => {
        const readiness = await checkReadiness(api, apiUrl(host))
        return readiness.ready ? undefined : readiness.reason
      })
    },
    async controllersReady(host) {
      if (!controlPlanes.includes(host)) return undefined
      return checkControllers(trustedCas(identity.cas.kubernetes), dialOnHost(host, findRemote), signal)
    },
    async nodesReady(hosts, runtime) {
      const names = hosts.map(nodeName)
      return explainNotReadyNodes(await readNodes(api, names), names, runtime)
    },
    async isVoter(host) {
      const { members } = await etcd.members()
      const member = members.find(isMemberOf(toMember(host)))
      if (member === undefined) return `${host} is not an etcd member`
      return member.learner ? `${host} is still a learner` : undefined
    },
    drainFindings: async (hosts) => forecastDrains(api, hosts.map(nodeName)),
    findUpgradeProblems: async (version) => [
      ...(await checkRemovedApis(api, servers, version)),
      ...(await checkKubeProxyVersion(api, version)),
    ],
    [Symbol.dispose]() {
      etcd.close()
      api.close()
    },
  }
}

/** Reads the etcd cluster id that a member reports; undefined if the member is unreachable for any reason. */
async function readClusterId(etcd: EtcdClient, endpoint: string): Promise<string | undefined> {
  return (await etcd.status(endpoint, { timeoutMs: serverTimeoutMs }).catch(ignoreEtcdError))?.clusterId
}

async function listMembers(etcd: EtcdClient, options: MembersOptions): Promise<readonly KnownEtcdMember[]> {
  try {
    return (await etcd.members(options)).members
  } catch (error) {
    if (isEtcdError(error, 'ETCD_UNREACHABLE') || isEtcdError(error, 'ETCD_UNAVAILABLE')) return []
    throw error
  }
}

/**
 * Maximum number of nodes that are read one by one. More nodes are read with one list request. A small step
 * in a cluster of thousands of nodes therefore does not list all nodes.
 */
const maxSingleReads = 16

/** Reads the named nodes that exist. The result may contain further nodes. */
async function readNodes(api: KubeClient, names: readonly string[]): Promise<readonly Node[]> {
  if (names.length > maxSingleReads) return (await listObjects(api, nodeKind)).items
  const found = await settleAll(names.map(async (name) => findObject(api, nodeKind, { name })))
  return found.flatMap((node) => node ?? [])
}

async function readVersions(api: KubeClient, servers: readonly string[]): Promise<string[]> {
  const requests = servers.map(async (server) =>
    versionOf(api, { server, once: true, timeout: serverTimeoutMs }),
  )
  const responses = await Promise.allSettled(requests)
  return responses.flatMap((response) =>
    response.status === 'fulfilled' ? [toServedVersion(response.value)] : [],
  )
}

/**
 * True if any API server is ready. All servers are checked concurrently, because the check of a hanging
 * server lasts until the timeout.
 */
async function isAnyReady(api: KubeClient, servers: readonly string[]): Promise<boolean> {
  const checks = servers.map(async (server) => {
    const { ready: isReady } = await checkReadiness(api, server, { timeout: serverTimeoutMs })
    if (!isReady) throw new Error('not ready')
  })
  return Promise.any(checks).then(
    () => true,
    () => false,
  )
}

async function findFirstNotReady(
  hosts: readonly string[],
  check: (host: string) => Promise<NotReadyReason>,
): Promise<NotReadyReason> {
  const reasons = await Promise.all(hosts.map(check))
  const first = reasons.findIndex((reason) => reason !== undefined)
  // With a single host the reason needs no host name.
  return hosts.length > 1 && first !== -1 ? `${hosts[first]}: ${reasons[first]}` : reasons[first]
}
