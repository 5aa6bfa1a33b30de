import { applyAddonNoWait, applyAddon } from '../addons/apply-addon.ts'
import { removeAddon } from '../addons/remove-addon.ts'
import { EtcdClient, type MembersOptions } from '../etcd/client.ts'
import { isEtcdError, ignoreEtcdError } from '../etcd/etcd-error.ts'
import { settleAll } from '../kit/settle-all.ts'
import type { Identity } from '../identity/identity.ts'
import { trustedCas } from '../identity/trusted-keys.ts'
import { KubeClient } from '../kube/client.ts'
import { listObjects } from '../kube/read-objects.ts'
import { checkReadiness, getServerVersion as versionOf } from '../kube/readiness.ts'
import { deleteKubeObject as removeObject } from '../kube/write-objects.ts'
import type { HostAddress } from '../plan/topology.ts'
import type { Remote } from '../ssh/remote.ts'
import { proposeAddonChanges } from './addons/propose-addons.ts'
import { noAddons } from './addons/proposal.ts'
import { uncordon } from './drain/cordon.ts'
import { drain } from './drain/drain.ts'
import { forecastDrains } from './drain/forecast.ts'
import { syncNodeLabels } from './cluster-objects/changes.ts'
import { nodeKind } from './cluster-objects/node.ts'
import { explainNotReadyNodes, explainNotReady } from './cluster-objects/node-readiness.ts'
import { findObjectChanges } from './cluster-objects/object-changes.ts'
import type { ManagedObjects } from './cluster-objects/managed-objects.ts'
import { applyObjectChanges, removeHostObjects } from './cluster-objects/apply-objects.ts'
import type { KnownEtcdMember } from './known-etcd-member.ts'
import { hasPeerAddress, joinEtcd, removeEtcdMember, promoteLearner } from './etcd-membership.ts'
import type { ClusterWriter, ClusterReader, NotReadyReason } from './cluster-access.ts'
import { dialThroughHosts } from './dial.ts'
import { issueOperatorCredentials } from './operator-credentials.ts'
import type { HostEndpoint } from './host-endpoints.ts'
import { checkRemovedApis } from './upgrade/removed-apis.ts'
import { createSmokeTestPods } from './smoke-test/smoke-test-pods.ts'

/** Client of a running cluster: reads and changes its components through etcd and the API. */
export interface ClusterClient extends ClusterReader, ClusterWriter, Disposable {
  readonly api: KubeClient
  readonly etcd: EtcdClient
}

export interface ClusterClientOptions {
  readonly identity: Identity
  /** Name of the operator who runs the command. */
  readonly operator: string
  readonly apiPort: number
  /** Objects that hyperkube manages in the cluster. Without them no objects are compared. */
  readonly objects?: ManagedObjects
  /** Returns the connection to a host, through which its components are reached. */
  readonly findRemote: (host: string) => Promise<Remote | undefined>
  readonly now: Date
  /**
   * Milliseconds to wait for one API server before the next one is tried. Undefined means the default of the
   * client.
   */
  readonly serverTimeoutMs?: number
  readonly signal: AbortSignal
}

export async function createClusterClient(
  endpoints: readonly HostEndpoint[],
  options: ClusterClientOptions,
): Promise<ClusterClient> {
  const { identity, operator, apiPort, objects, findRemote, now, serverTimeoutMs: response, signal } = options
  const credentials = await issueOperatorCredentials(identity, operator, now)
  const dial = dialThroughHosts(endpoints, findRemote)
  const addressByHost = new Map(endpoints.map(({ host, address }) => [host, address]))
  const etcdUrl = (host: string): string => `https://${addressByHost.get(host) ?? host}:2379`
  const apiUrl = (host: string): string => `https://${addressByHost.get(host) ?? host}:${apiPort}`

  const memberHosts = endpoints.filter(({ etcd: isMember }) => isMember).map(({ host }) => host)
  const etcd = new EtcdClient({
    endpoints: memberHosts.map(etcdUrl),
    ca: trustedCas(identity.cas.etcd),
    credentials: {
      certificate: credentials.etcd.certificate,
      privateKey: credentials.etcd.privateKey.revealText(),
    },
    dial,
    signal,
  })
  const servers = endpoints.filter(({ api: isServer }) => isServer).map(({ host }) => apiUrl(host))
  const api = new KubeClient({
    servers,
    ca: trustedCas(identity.cas.kubernetes),
    credentials: {
      certificate: credentials.kubernetes.certificate,
      privateKey: credentials.kubernetes.privateKey.revealText(),
    },
    dial,
    ...(response === undefined ? {} : { timing: { responseMs: response } }),
    signal,
  })
  const pods = createSmokeTestPods(api)
  const readObjectChanges = async () => (objects === undefined ? [] : findObjectChanges(api, objects))
  const nodeNames = new Map(endpoints.map(({ host, node }) => [host, node ?? host]))
  const nodeName = (host: string): string => nodeNames.get(host) ?? host
  const toMember = (host: string): HostAddress => ({ name: host, address: addressByHost.get(host) ?? host })

  return {
    api,
    etcd,
    async readApiState(addons) {
      if (!(await isAnyReady(api, servers))) return undefined
      const [nodes, versions, changes, trials, differences] = await Promise.all([
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
        smokeTestNodes: [...trials.keys()],
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
    joinEtcd: async (host, wait) => joinEtcd(etcd, toMember(host), wait),
    promote: async (host, wait) => promoteLearner(etcd, toMember(host), wait),
    removeEtcdMember: async (host) => removeEtcdMember(etcd, toMember(host).address),
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
    uncordon: async (host) => uncordon(api, nodeName(host)),
    async removeNode(host) {
      await removeHostObjects(api, nodeName(host))
      await removeObject(api, nodeKind, { name: nodeName(host) })
    },
    // The list is empty if etcd does not exist yet or has no quorum.
    members: async () => listMembers(etcd, { timeoutMs: 3000 }),
    unconfirmedMembers: async () => listMembers(etcd, { timeoutMs: 3000, unconfirmed: true }),
    async etcdIds() {
      const ids = await settleAll(
        memberHosts.map(async (host) => [host, await readClusterId(etcd, etcdUrl(host))] as const),
      )
      return new Map(ids.flatMap(([host, id]) => (id === undefined ? [] : [[host, id]])))
    },
    async etcdHealthy(hosts) {
      return findFirstNotReady(hosts, async (host) => {
        const { ready: isHealthy, reason } = await etcd.health(etcdUrl(host))
        return isHealthy ? undefined : (reason ?? 'it does not say why')
      })
    },
    async apiReady(hosts) {
      return findFirstNotReady(hosts, async (host) => {
        const readiness = await checkReadiness(api, apiUrl(host))
        return readiness.ready ? undefined : readiness.reason
      })
    },
    // Always passes: the API server gate already covers this host, and the leader leases may be held by other
    // hosts.
    controllersReady: async () => undefined,
    async nodesReady(hosts) {
      return explainNotReadyNodes((await listObjects(api, nodeKind)).items, hosts.map(nodeName))
    },
    async isVoter(host) {
      const { members } = await etcd.members()
      const member = members.find(hasPeerAddress(toMember(host).address))
      if (member === undefined) return `${host} is no member`
      return member.learner ? `${host} still learns` : undefined
    },
    drainFindings: async (hosts) => forecastDrains(api, hosts.map(nodeName)),
    removedApis: async (version) => checkRemovedApis(api, servers, version),
    [Symbol.dispose]() {
      etcd.close()
      api.close()
    },
  }
}

/** Reads the etcd cluster id that a member reports; undefined if the member is unreachable for any reason. */
async function readClusterId(etcd: EtcdClient, endpoint: string): Promise<string | undefined> {
  return (await etcd.status(endpoint, { timeoutMs: 3000 }).catch(ignoreEtcdError))?.clusterId
}

async function listMembers(etcd: EtcdClient, options: MembersOptions): Promise<readonly KnownEtcdMember[]> {
  try {
    return (await etcd.members(options)).members
  } catch (error) {
    if (isEtcdError(error, 'ETCD_UNREACHABLE') || isEtcdError(error, 'ETCD_UNAVAILABLE')) return []
    throw error
  }
}

async function readVersions(api: KubeClient, servers: readonly string[]): Promise<string[]> {
  const requests = servers.map(async (server) => versionOf(api, { server, once: true, timeout: 3000 }))
  const responses = await Promise.allSettled(requests)
  return responses.flatMap((response) =>
    response.status === 'fulfilled' ? [response.value.gitVersion.replace(/^v/, '')] : [],
  )
}

/**
 * True if any API server is ready. A stopped server refuses the connection at once; a hanging server takes
 * until the timeout.
 */
async function isAnyReady(api: KubeClient, servers: readonly string[]): Promise<boolean> {
  const checks = servers.map(async (server) => {
    const { ready: isReady } = await checkReadiness(api, server, { timeout: 3000 })
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
