import type { HostEtcd, HostResult, HostStatus } from '../../contract/host-resource.ts'
import { hostRequest } from '../../contract/host-resource.ts'
import { hostKind } from '../../kube/host-resource.ts'
import type { FakeManagerCluster } from './fake-cluster.ts'

export const mebibyte = 2 ** 20

export function formatHostPath(name: string): string {
  return `/apis/hyperkube.dev/v1/hosts/${name}`
}

/** Builds an agent's report about its etcd member. The member id equals the host name. */
export function buildHostEtcd(
  name: string,
  members: readonly string[],
  more: Partial<HostEtcd> = {},
): HostEtcd {
  return {
    ...{ id: name, leader: members[0] ?? name, learner: false, ready: true, version: '3.7.3', alarms: [] },
    ...{ size: 100 * mebibyte, inUse: 90 * mebibyte, quota: 8192 * mebibyte },
    members: members.map((one) => ({ id: one, name: one, learner: false })),
    ...more,
  }
}

/** Hosts of a fake cluster. The methods write what their agents would report. */
export class FakeHosts {
  readonly #cluster: FakeManagerCluster
  readonly #now: () => Date
  readonly #names: string[] = []

  constructor(cluster: FakeManagerCluster, now: () => Date) {
    this.#cluster = cluster
    this.#now = now
  }

  /** Adds a host. By default the host is an etcd member if `status` contains an etcd report. */
  add(name: string, status: HostStatus = {}, etcdMember = status.etcd !== undefined): void {
    const spec = { names: { dns: [name], ip: [] }, etcdMember }
    const { apiVersion, kind } = hostKind
    this.#names.push(name)
    const initialStatus = {
      agent: '1.0.0',
      heartbeat: this.#now().toISOString(),
      generation: 1,
      components: [],
    }
    this.#cluster.objects.put(formatHostPath(name), {
      apiVersion,
      kind,
      spec,
      status: { ...initialStatus, ...status },
    })
  }

  change(name: string, status: HostStatus): void {
    this.#cluster.objects.change(formatHostPath(name), { status })
  }

  /** Sends heartbeats of all hosts except the given ones. */
  sendHeartbeats(...silent: readonly string[]): void {
    const heartbeat = this.#now().toISOString()
    for (const name of this.#names) if (!silent.includes(name)) this.change(name, { heartbeat })
  }

  status(name: string): HostStatus {
    return hostKind.schema.parse(this.#cluster.objects.get(formatHostPath(name))).status
  }

  /** Ids of all requests of a host. */
  requestIds(name: string): string[] {
    const { spec } = hostKind.schema.parse(this.#cluster.objects.get(formatHostPath(name)))
    return (spec.requests ?? []).map((request) => hostRequest.parse(request).id)
  }

  /** Writes results for all open requests of a host. Returns the requested actions. */
  respond(name: string, outcome: 'done' | 'failed' = 'done', more: HostStatus = {}): string[] {
    const { spec, status } = hostKind.schema.parse(this.#cluster.objects.get(formatHostPath(name)))
    const results = status.results ?? []
    const pending = (spec.requests ?? [])
      .map((request) => hostRequest.parse(request))
      .filter(({ id }) => !results.some((result) => result.id === id))
    if (pending.length === 0) return []
    const responses = pending.map(({ id }): HostResult => ({
      id,
      outcome,
      at: this.#now().toISOString(),
      details: [],
    }))
    this.change(name, { results: [...results, ...responses], ...more })
    return pending.map(({ action }) => JSON.stringify(action))
  }
}
