import { lay, put } from '../addons/apply-addon.ts'
import { remove } from '../addons/remove-addon.ts'
import { EtcdClient, type MembersOptions } from '../etcd/client.ts'
import { isEtcdError, unlessEtcd } from '../etcd/etcd-error.ts'
import { settleAll } from '../kit/settle-all.ts'
import type { Identity } from '../identity/identity.ts'
import { trustedAuthorities } from '../identity/trusted-keys.ts'
import { KubeClient } from '../kube/client.ts'
import { list } from '../kube/read-objects.ts'
import { ready, version as versionOf } from '../kube/readiness.ts'
import { remove as removeObject } from '../kube/write-objects.ts'
import type { Member } from '../plan/topology.ts'
import type { Remote } from '../ssh/remote.ts'
import { addonsInside } from './addons/propose-addons.ts'
import { noAddons } from './addons/proposal.ts'
import { uncordon } from './drain/cordon.ts'
import { drain } from './drain/drain.ts'
import { drainForecasts } from './drain/forecast.ts'
import { settleNodes } from './cluster-objects/changes.ts'
import { nodeKind } from './cluster-objects/node.ts'
import { notReady, whyNotReady } from './cluster-objects/node-readiness.ts'
import { objectChanges } from './cluster-objects/object-changes.ts'
import type { OwnObjects } from './cluster-objects/managed-objects.ts'
import { putObjects, removeHost } from './cluster-objects/apply-objects.ts'
import type { KnownMember } from './current-state.ts'
import { isAt, joinEtcd, leaveEtcd, promote } from './etcd-membership.ts'
import type { Interior, Observer, Unwell } from './cluster-access.ts'
import { dialThrough } from './dial.ts'
import { operatorCredentials } from './operator-credentials.ts'
import type { Place } from './host-endpoints.ts'
import { lookForRemoved } from './upgrade/removed-apis.ts'
import { trialPods } from './smoke-test/smoke-test-pods.ts'

/** The ways into a running cluster: what its own programs say of it, and its API. */
export interface Surroundings extends Observer, Interior, Disposable {
  readonly api: KubeClient
  readonly etcd: EtcdClient
}

export interface SurroundingsOptions {
  readonly identity: Identity
  /** Who the command runs for. */
  readonly operator: string
  readonly apiPort: number
  /** What the cluster shall have of us; where nobody says it, nobody looks for it. */
  readonly objects?: OwnObjects
  /** The ssh connection to a host: its programs are reached through it. */
  readonly remoteOf: (host: string) => Promise<Remote | undefined>
  readonly now: Date
  /** How long one API server is waited for before the next is asked, in milliseconds; where not as usual. */
  readonly patience?: number
  readonly signal: AbortSignal
}

export async function surroundings(
  places: readonly Place[],
  options: SurroundingsOptions,
): Promise<Surroundings> {
  const { identity, operator, apiPort, objects, remoteOf, now, patience: answer, signal } = options
  const credentials = await operatorCredentials(identity, operator, now)
  const dial = dialThrough(places, remoteOf)
  const addressOf = new Map(places.map(({ host, address }) => [host, address]))
  const etcdUrl = (host: string): string => `https://${addressOf.get(host) ?? host}:2379`
  const apiUrl = (host: string): string => `https://${addressOf.get(host) ?? host}:${apiPort}`

  const memberHosts = places.filter(({ etcd: isMember }) => isMember).map(({ host }) => host)
  const etcd = new EtcdClient({
    endpoints: memberHosts.map(etcdUrl),
    authority: trustedAuthorities(identity.authorities.etcd),
    credentials: {
      certificate: credentials.etcd.certificate,
      privateKey: credentials.etcd.privateKey.revealText(),
    },
    dial,
    signal,
  })
  const servers = places.filter(({ api: isServer }) => isServer).map(({ host }) => apiUrl(host))
  const api = new KubeClient({
    servers,
    authority: trustedAuthorities(identity.authorities.kubernetes),
    credentials: {
      certificate: credentials.kubernetes.certificate,
      privateKey: credentials.kubernetes.privateKey.revealText(),
    },
    dial,
    ...(answer === undefined ? {} : { timing: { answer } }),
    signal,
  })
  const pods = trialPods(api)
  const objectsToPut = async () => (objects === undefined ? [] : objectChanges(api, objects))
  const nodeNames = new Map(places.map(({ host, node }) => [host, node ?? host]))
  const nodeOf = (host: string): string => nodeNames.get(host) ?? host
  const seatFor = (host: string): Member => ({ name: host, address: addressOf.get(host) ?? host })

  return {
    api,
    etcd,
    async inside(addons) {
      if (!(await someReady(api, servers))) return undefined
      const [nodes, versions, changes, trials, differences] = await Promise.all([
        list(api, nodeKind),
        versionsOf(api, servers),
        objectsToPut(),
        pods.look(),
        addons === undefined ? noAddons : addonsInside(api, addons, { identity, now }),
      ])
      return {
        nodes: nodes.items,
        versions,
        objects: changes,
        trials: [...trials.keys()],
        addons: differences,
      }
    },
    putObjects: async () => putObjects(api, await objectsToPut()),
    settleNodes: async (some) => settleNodes(api, some),
    trialPods: pods,
    layAddon: async (addon, patience) => lay(api, addon, patience),
    async putAddon(addon, patience) {
      const { items } = await list(api, nodeKind)
      const away = items.filter((node) => whyNotReady(node) !== undefined).length
      return put(api, addon, { ...patience, away })
    },
    removeAddon: async (name, patience) => remove(api, name, patience),
    joinEtcd: async (host, patience) => joinEtcd(etcd, seatFor(host), patience),
    promote: async (host, patience) => promote(etcd, seatFor(host), patience),
    leaveEtcd: async (host) => leaveEtcd(etcd, seatFor(host).address),
    async drain(host, { lost, waiting, within, now: clock, signal: until }) {
      const since = clock().toISOString()
      await drain(api, nodeOf(host), {
        deadline: within,
        force: true,
        lost,
        waiting: (reason) => waiting(reason, since),
        now: clock,
        signal: until,
      })
    },
    uncordon: async (host) => uncordon(api, nodeOf(host)),
    async removeNode(host) {
      await removeHost(api, nodeOf(host))
      await removeObject(api, nodeKind, { name: nodeOf(host) })
    },
    // Nobody answers: there is none yet, or no quorum of it.
    members: async () => membersOf(etcd, { timeout: 3000 }),
    remembered: async () => membersOf(etcd, { timeout: 3000, unconfirmed: true }),
    async etcdIds() {
      const ids = await settleAll(
        memberHosts.map(async (host) => [host, await idAt(etcd, etcdUrl(host))] as const),
      )
      return new Map(ids.flatMap(([host, id]) => (id === undefined ? [] : [[host, id]])))
    },
    async etcdWell(hosts) {
      return firstUnwell(hosts, async (host) => {
        const { ready: well, reason } = await etcd.health(etcdUrl(host))
        return well ? undefined : (reason ?? 'it does not say why')
      })
    },
    async apiReady(hosts) {
      return firstUnwell(hosts, async (host) => {
        const readiness = await ready(api, apiUrl(host))
        return readiness.ready ? undefined : readiness.reason
      })
    },
    // The API server beside them is ready; that they lead or follow shows in their leases, which others hold as well.
    controllersReady: async () => undefined,
    async nodesReady(hosts) {
      return notReady((await list(api, nodeKind)).items, hosts.map(nodeOf))
    },
    async isVoter(host) {
      const { members } = await etcd.members()
      const member = members.find(isAt(seatFor(host).address))
      if (member === undefined) return `${host} is no member`
      return member.learner ? `${host} still learns` : undefined
    },
    drainFindings: async (hosts) => drainForecasts(api, hosts.map(nodeOf)),
    removedApis: async (version) => lookForRemoved(api, servers, version),
    [Symbol.dispose]() {
      etcd.close()
      api.close()
    },
  }
}

/** Whoever does not answer, for whatever reason, is no sign of anything here. */
async function idAt(etcd: EtcdClient, endpoint: string): Promise<string | undefined> {
  return (await etcd.status(endpoint, { timeout: 3000 }).catch(unlessEtcd))?.clusterId
}

async function membersOf(etcd: EtcdClient, options: MembersOptions): Promise<readonly KnownMember[]> {
  try {
    return (await etcd.members(options)).members
  } catch (error) {
    if (isEtcdError(error, 'ETCD_UNREACHABLE') || isEtcdError(error, 'ETCD_UNAVAILABLE')) return []
    throw error
  }
}

async function versionsOf(api: KubeClient, servers: readonly string[]): Promise<string[]> {
  const asked = servers.map(async (server) => versionOf(api, { server, once: true, timeout: 3000 }))
  const answers = await Promise.allSettled(asked)
  return answers.flatMap((answer) =>
    answer.status === 'fulfilled' ? [answer.value.gitVersion.replace(/^v/, '')] : [],
  )
}

/** Of servers that are not there yet one hears at once; of those that are silent, in a moment. */
async function someReady(api: KubeClient, servers: readonly string[]): Promise<boolean> {
  const looks = servers.map(async (server) => {
    const { ready: isReady } = await ready(api, server, { timeout: 3000 })
    if (!isReady) throw new Error('not ready')
  })
  return Promise.any(looks).then(
    () => true,
    () => false,
  )
}

async function firstUnwell(
  hosts: readonly string[],
  look: (host: string) => Promise<Unwell>,
): Promise<Unwell> {
  const reasons = await Promise.all(hosts.map(look))
  const first = reasons.findIndex((reason) => reason !== undefined)
  // Who asked for one host knows which one.
  return hosts.length > 1 && first !== -1 ? `${hosts[first]}: ${reasons[first]}` : reasons[first]
}
