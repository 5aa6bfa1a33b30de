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
  /** The host that it runs on; none while nobody leads. */
  readonly host: string
  readonly identity: string
  readonly transitions: number
}

export async function leaderOf(api: KubeApi): Promise<Leader> {
  const { namespace, name } = managerLease
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`
  const { holderIdentity, leaseTransitions } = lease.parse(await api.get(path)).spec
  return {
    host: holderIdentity.split('_')[0] ?? '',
    identity: holderIdentity,
    transitions: leaseTransitions,
  }
}

/** Looks at what is asked of hosts, in whose name, and what came of it, from its beginning to its end. */
export class ManagerWitness implements AsyncDisposable {
  /** By id, hosts where it was done. */
  readonly done = new Map<string, Set<string>>()
  /** In words: a host that was shown a lower number after a higher one. */
  readonly faults = new Set<string>()
  /** Names of all snapshots that any host had. */
  readonly snapshots = new Map<string, Set<string>>()
  readonly #api: KubeApi
  readonly #over = new AbortController()
  readonly #looking: Promise<void>
  readonly #highest = new Map<string, number>()
  /** Holders by their number: two of one number would be two leaders. */
  readonly #holders = new Map<number, string>()

  constructor(api: KubeApi) {
    this.#api = api
    this.#looking = this.#look()
  }

  /** Of all hosts: the highest number that any of them was shown. */
  get highest(): number {
    return Math.max(0, ...this.#highest.values())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#looking
  }

  async #look(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const list = await this.#api.get('/apis/hyperkube.dev/v1/hosts').catch(() => undefined)
      if (list !== undefined) for (const one of hostList.parse(list).items) this.#note(one)
      await sleep(250, undefined, { signal: this.#over.signal }).catch(() => undefined)
    }
  }

  #note({ metadata: { name }, spec, status }: z.infer<typeof hostList>['items'][number]): void {
    const shown = [
      ...(spec.requests ?? []).map(({ fence }) => fence),
      ...(status?.highest ? [status.highest] : []),
    ]
    for (const { holder, transitions } of shown) {
      const other = this.#holders.get(transitions) ?? holder
      this.#holders.set(transitions, other)
      if (other !== holder) this.faults.add(`${holder} and ${other} have both shown ${transitions}`)
    }
    const now = status?.highest?.transitions ?? 0
    const before = this.#highest.get(name) ?? 0
    if (now < before) this.faults.add(`${name} has gone back from ${before} to ${now}`)
    this.#highest.set(name, Math.max(now, before))
    for (const { id, outcome } of status?.results ?? [])
      if (outcome !== 'refused') addTo(this.done, id, `${name} ${outcome}`)
    for (const { name: snapshot } of status?.snapshots ?? []) addTo(this.snapshots, snapshot, name)
  }
}

function addTo(all: Map<string, Set<string>>, key: string, value: string): void {
  all.set(key, (all.get(key) ?? new Set()).add(value))
}
