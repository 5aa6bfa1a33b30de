import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { hostRequest, hostStatus } from '../../src/contract/host-resource.ts'
import { managerLease } from '../../src/manager/rbac.ts'

const hostList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({ requests: z.array(hostRequest).optional() }),
      status: hostStatus.optional(),
    }),
  ),
})
const lease = z.object({
  spec: z.object({ holderIdentity: z.string().default(''), leaseTransitions: z.int().default(0) }),
})

export interface Leader {
  /** Host of the leader; empty if the lease has no holder. */
  readonly host: string
  readonly identity: string
  readonly transitions: number
}

export async function readLeader(api: KubeApi): Promise<Leader> {
  const { namespace, name } = managerLease
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`
  const { holderIdentity, leaseTransitions } = lease.parse(await api.get(path)).spec
  return {
    host: holderIdentity.split('_')[0] ?? '',
    identity: holderIdentity,
    transitions: leaseTransitions,
  }
}

/** Observes the requests to hosts, their fences and their results. */
export class HostRequestObserver implements AsyncDisposable {
  /** For each request id: the hosts that did not refuse the request, each as text with its outcome. */
  readonly done = new Map<string, Set<string>>()
  /** Violations of fencing as text, for example a host whose highest fence has decreased. */
  readonly violations = new Set<string>()
  /** Hosts that reported a snapshot, by snapshot name. */
  readonly snapshots = new Map<string, Set<string>>()
  readonly #api: KubeApi
  readonly #stop = new AbortController()
  readonly #observing: Promise<void>
  readonly #highest = new Map<string, number>()
  /** Lease holder by fence. Two holders with the same fence would be two leaders at once. */
  readonly #holders = new Map<number, string>()

  constructor(api: KubeApi) {
    this.#api = api
    this.#observing = this.#observe()
  }

  /** Highest fence that any host has reported. */
  get highest(): number {
    return Math.max(0, ...this.#highest.values())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#observing
  }

  async #observe(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const list = await this.#api.get('/apis/hyperkube.dev/v1/hosts').catch(() => undefined)
      if (list !== undefined) for (const host of hostList.parse(list).items) this.#record(host)
      await sleep(250, undefined, { signal: this.#stop.signal }).catch(() => undefined)
    }
  }

  #record({ metadata: { name }, spec, status }: z.infer<typeof hostList>['items'][number]): void {
    const fences = [
      ...(spec.requests ?? []).map(({ fence }) => fence),
      ...(status?.highestFence ? [status.highestFence] : []),
    ]
    for (const { holder, transitions } of fences) {
      const other = this.#holders.get(transitions) ?? holder
      this.#holders.set(transitions, other)
      if (other !== holder) this.violations.add(`${holder} and ${other} have both shown ${transitions}`)
    }
    const now = status?.highestFence?.transitions ?? 0
    const before = this.#highest.get(name) ?? 0
    if (now < before) this.violations.add(`${name} has gone back from ${before} to ${now}`)
    this.#highest.set(name, Math.max(now, before))
    for (const { id, outcome } of status?.results ?? [])
      if (outcome !== 'refused') addTo(this.done, id, `${name} ${outcome}`)
    for (const { name: snapshot } of status?.snapshots ?? []) addTo(this.snapshots, snapshot, name)
  }
}

function addTo(all: Map<string, Set<string>>, key: string, value: string): void {
  all.set(key, (all.get(key) ?? new Set()).add(value))
}
