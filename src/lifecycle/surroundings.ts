import type { NodePlan } from '../contract/node-plan.ts'
import { EtcdClient } from '../etcd/client.ts'
import { isEtcdError } from '../etcd/etcd-error.ts'
import type { Identity } from '../identity/identity.ts'
import { applyBaseObjects } from '../kube/base-objects.ts'
import { KubeClient } from '../kube/client.ts'
import { list } from '../kube/read.ts'
import { ready } from '../kube/ready.ts'
import { nodeKind, notReady } from './node-readiness.ts'
import type { Observer, Unwell } from './observer.ts'
import { operatorCredentials } from './operator.ts'

/** The ways into a running cluster: what its own programs say of it, and its API. */
export interface Surroundings extends Observer, Disposable {
  readonly api: KubeClient
  /** Gives our own programs, and people, the rights that they need. */
  grantRights(windows: boolean): Promise<void>
}

export interface SurroundingsOptions {
  readonly identity: Identity
  /** Who the command runs for. */
  readonly operator: string
  readonly apiPort: number
  readonly now: Date
  readonly signal: AbortSignal
}

export async function surroundings(
  plans: readonly NodePlan[],
  options: SurroundingsOptions,
): Promise<Surroundings> {
  const { identity, operator, apiPort, now, signal } = options
  const credentials = await operatorCredentials(identity, operator, now)
  const addressOf = new Map(plans.map(({ host, address }) => [host, address]))
  const hostsWith = (name: string): NodePlan[] =>
    plans.filter(({ components }) => components.some((component) => component.name === name))
  const etcdUrl = (host: string): string => `https://${addressOf.get(host) ?? host}:2379`
  const apiUrl = (host: string): string => `https://${addressOf.get(host) ?? host}:${apiPort}`

  const etcd = new EtcdClient({
    endpoints: hostsWith('etcd').map(({ host }) => etcdUrl(host)),
    authority: identity.authorities.etcd.certificate,
    credentials: {
      certificate: credentials.etcd.certificate,
      privateKey: credentials.etcd.privateKey.revealText(),
    },
    signal,
  })
  const api = new KubeClient({
    servers: hostsWith('kube-apiserver').map(({ host }) => apiUrl(host)),
    authority: identity.authorities.kubernetes.certificate,
    credentials: {
      certificate: credentials.kubernetes.certificate,
      privateKey: credentials.kubernetes.privateKey.revealText(),
    },
    signal,
  })
  const nodeNames = new Map(plans.map(({ host, node }) => [host, node?.name ?? host]))

  return {
    api,
    async grantRights(windows) {
      await applyBaseObjects(api, { windows })
    },
    async members() {
      try {
        return (await etcd.members({ timeout: 3000 })).members
      } catch (error) {
        // Nobody answers: there is none yet, or no quorum of it.
        if (isEtcdError(error, 'ETCD_UNREACHABLE') || isEtcdError(error, 'ETCD_UNAVAILABLE')) return []
        throw error
      }
    },
    async etcdWell(hosts) {
      return firstUnwell(hosts, async (host) => {
        const { ready: well, reason } = await etcd.health(etcdUrl(host))
        return well ? undefined : `${host}: ${reason ?? 'it does not say why'}`
      })
    },
    async apiReady(hosts) {
      return firstUnwell(hosts, async (host) => {
        const readiness = await ready(api, apiUrl(host))
        return readiness.ready ? undefined : `${host} ${readiness.reason}`
      })
    },
    // The API server beside them is ready; that they lead or follow shows in their leases, which others hold as well.
    controllersReady: async () => undefined,
    async nodesReady(hosts) {
      const wanted = hosts.map((host) => nodeNames.get(host) ?? host)
      return notReady((await list(api, nodeKind)).items, wanted)
    },
    async isVoter(host) {
      const { members } = await etcd.members()
      const member = members.find(({ peerUrls }) => peerUrls.includes(`https://${addressOf.get(host)}:2380`))
      if (member === undefined) return `${host} is no member`
      return member.learner ? `${host} still learns` : undefined
    },
    [Symbol.dispose]() {
      etcd.close()
      api.close()
    },
  }
}

async function firstUnwell(
  hosts: readonly string[],
  look: (host: string) => Promise<Unwell>,
): Promise<Unwell> {
  const reasons = await Promise.all(hosts.map(look))
  return reasons.find((reason) => reason !== undefined)
}
