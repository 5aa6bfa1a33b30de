import type { Observation } from '../../etcd/member.ts'
import { describe } from '../../kit/errors.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { Node } from '../cluster-objects/node.ts'
import type { Unwell } from '../cluster-access.ts'
import type { Place } from '../host-endpoints.ts'
import { bounded } from './call-with-timeout.ts'
import { type HostLook, type HostQuestions, lookAtHost } from './observe-host.ts'

export type Well = { readonly well: true } | { readonly well: false; readonly reason: string }

/** What was seen of a cluster at one time: of its hosts, and by an operator of the whole. */
export interface Look {
  readonly at: Date
  /** All places of the cluster, also where nobody looked. */
  readonly places: readonly Place[]
  readonly hosts: readonly HostLook[]
  readonly etcd:
    | { readonly state: 'seen'; readonly observed: Observation }
    | { readonly state: 'silent'; readonly reason: string }
  /** Of every API server, by its host. */
  readonly api: ReadonlyMap<string, Well>
  /** None when the API does not say. */
  readonly nodes: readonly Node[] | undefined
}

/** The ways to see it. */
export interface Sights {
  readonly connect: (host: string) => Promise<Remote>
  readonly etcd: (signal: AbortSignal) => Promise<Observation>
  readonly apiReady: (host: string) => Promise<Unwell>
  readonly nodes: (signal: AbortSignal) => Promise<readonly Node[]>
}

export interface LookOptions extends HostQuestions {
  readonly now: () => Date
  /** The hosts to go to, where not to all. */
  readonly only?: ReadonlySet<string>
}

/** When no more than one in three members is there, each is asked in vain before. */
const etcdTime = 20_000
const apiTime = 12_000

/** Looks at everything side by side, and at nobody for long. Nothing is changed by it, and it never fails but for an abort. */
export async function lookAround(
  places: readonly Place[],
  sights: Sights,
  options: LookOptions,
): Promise<Look> {
  const { only, now, signal } = options
  const [hosts, etcd, api, nodes] = await Promise.all([
    Promise.all(
      places
        .filter(({ host }) => only === undefined || only.has(host))
        .map(async (place) => lookAtHost(place, async () => sights.connect(place.host), options)),
    ),
    lookAtEtcd(sights, signal),
    lookAtApi(places, sights, signal),
    bounded(apiTime, signal, sights.nodes).catch(() => undefined),
  ])
  signal.throwIfAborted()
  return { at: now(), places, hosts, etcd, api, nodes }
}

async function lookAtEtcd({ etcd }: Sights, signal: AbortSignal): Promise<Look['etcd']> {
  try {
    return { state: 'seen', observed: await bounded(etcdTime, signal, etcd) }
  } catch (error) {
    return { state: 'silent', reason: describe(error) }
  }
}

async function lookAtApi(
  places: readonly Place[],
  { apiReady }: Sights,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Well>> {
  const servers = places.filter(({ api }) => api)
  const seen = await Promise.all(
    servers.map(async ({ host }) => {
      const reason = await bounded(apiTime, signal, async () => apiReady(host)).catch(describe)
      return [host, wellOf(reason)] as const
    }),
  )
  return new Map(seen)
}

export function wellOf(reason: Unwell): Well {
  return reason === undefined ? { well: true } : { well: false, reason }
}
