import type { HostEtcd, HostResult, HostStatus } from '../../contract/host-resource.ts'
import { hostRequest } from '../../contract/host-resource.ts'
import { hosts } from '../../kube/host-resource.ts'
import type { TestCluster } from './fake-cluster.ts'

export const mebibyte = 2 ** 20

export function hostPath(name: string): string {
  return `/apis/hyperkube.dev/v1/hosts/${name}`
}

/** For tests: what the agent of a member of etcd says of it, whose id is its name. */
export function etcdOf(name: string, members: readonly string[], more: Partial<HostEtcd> = {}): HostEtcd {
  return {
    ...{ id: name, leader: members[0] ?? name, learner: false, ready: true, version: '3.7.3', alarms: [] },
    ...{ size: 100 * mebibyte, inUse: 90 * mebibyte, quota: 8192 * mebibyte },
    members: members.map((one) => ({ id: one, name: one, learner: false })),
    ...more,
  }
}

/** Hosts in a cluster of a test, and what their agents would do. */
export class TestHosts {
  readonly #cluster: TestCluster
  readonly #now: () => Date
  readonly #names: string[] = []

  constructor(cluster: TestCluster, now: () => Date) {
    this.#cluster = cluster
    this.#now = now
  }

  put(name: string, status: HostStatus = {}): void {
    const spec = { names: { dns: [name], ip: [] } }
    const { apiVersion, kind } = hosts
    this.#names.push(name)
    const beginning = { agent: '1.0.0', heartbeat: this.#now().toISOString(), generation: 1, components: [] }
    this.#cluster.objects.put(hostPath(name), { apiVersion, kind, spec, status: { ...beginning, ...status } })
  }

  change(name: string, status: HostStatus): void {
    this.#cluster.objects.change(hostPath(name), { status })
  }

  /** All give a sign of life, but for some. */
  beat(...silent: readonly string[]): void {
    const heartbeat = this.#now().toISOString()
    for (const name of this.#names) if (!silent.includes(name)) this.change(name, { heartbeat })
  }

  status(name: string): HostStatus {
    return hosts.schema.parse(this.#cluster.objects.get(hostPath(name))).status
  }

  /** Ids of all that was asked of a host. */
  asked(name: string): string[] {
    const { spec } = hosts.schema.parse(this.#cluster.objects.get(hostPath(name)))
    return (spec.requests ?? []).map((request) => hostRequest.parse(request).id)
  }

  /** Answers all that a host was asked and has not answered, and says what that was. */
  answer(name: string, outcome: 'done' | 'failed' = 'done', more: HostStatus = {}): string[] {
    const { spec, status } = hosts.schema.parse(this.#cluster.objects.get(hostPath(name)))
    const results = status.results ?? []
    const open = (spec.requests ?? [])
      .map((request) => hostRequest.parse(request))
      .filter(({ id }) => !results.some((result) => result.id === id))
    if (open.length === 0) return []
    const answers = open.map(({ id }): HostResult => ({
      id,
      outcome,
      at: this.#now().toISOString(),
      details: [],
    }))
    this.change(name, { results: [...results, ...answers], ...more })
    return open.map(({ ask }) => JSON.stringify(ask))
  }
}
