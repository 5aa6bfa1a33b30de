import type { HostTrial } from '../../contract/trial.ts'
import { describe } from '../../kit/errors.ts'
import type { Inside, Observer, Unwell } from '../observer.ts'
import type { Place } from '../places.ts'
import { whyNotReady } from '../inside/node-readiness.ts'
import type { HostServices } from './services.ts'

/** How one host is. What it has no part in is undefined. */
export interface HostStatus {
  readonly host: string
  /** Why it was not reached; undefined when it was. */
  readonly away: Unwell
  readonly version: string | undefined
  readonly services: HostServices['services']
  readonly etcd?: Well
  readonly api?: Well
  readonly node?: Well & { readonly version?: string }
  /** What it has on trial, or went back from. */
  readonly trial?: HostTrial
}

export type Well = { readonly well: true } | { readonly well: false; readonly reason: string }

export interface StatusScene {
  readonly places: readonly Place[]
  readonly observer: Pick<Observer, 'etcdWell' | 'apiReady' | 'inside'>
  /** Asks a host for its services; fails when it does not answer. */
  readonly services: (place: Place) => Promise<HostServices>
  readonly trial: (place: Place) => Promise<HostTrial | undefined>
}

/** Asks all hosts, and all programs that can say how they are. Nothing is changed by it. */
export async function statusOf({ places, observer, services, trial }: StatusScene): Promise<HostStatus[]> {
  const inside = observer.inside().catch(() => undefined)
  return Promise.all(
    places.map(async (place): Promise<HostStatus> => {
      const [seen, tried, etcd, api, nodes] = await Promise.all([
        services(place).catch(describe),
        trial(place).catch(() => undefined),
        place.etcd ? wellOf(observer.etcdWell([place.host])) : undefined,
        place.api ? wellOf(observer.apiReady([place.host])) : undefined,
        inside,
      ])
      const isAway = typeof seen === 'string'
      return {
        host: place.host,
        away: isAway ? seen : undefined,
        version: isAway ? undefined : seen.version,
        services: isAway ? [] : seen.services,
        ...(etcd === undefined ? {} : { etcd }),
        ...(api === undefined ? {} : { api }),
        ...(place.node === undefined ? {} : { node: nodeOf(place.node, nodes) }),
        ...(tried === undefined ? {} : { trial: tried }),
      }
    }),
  )
}

/** Whether everything of a host is as it should be. */
export function isWell({ away, services, etcd, api, node }: HostStatus): boolean {
  const parts = [etcd, api, node].filter((part) => part !== undefined)
  return (
    away === undefined && services.every(({ state }) => state === 'active') && parts.every(({ well }) => well)
  )
}

async function wellOf(look: Promise<Unwell>): Promise<Well> {
  const reason = await look.catch(describe)
  return reason === undefined ? { well: true } : { well: false, reason }
}

function nodeOf(name: string, inside: Inside | undefined): Well & { readonly version?: string } {
  if (inside === undefined) return { well: false, reason: 'no API server answers' }
  const node = inside.nodes.find(({ metadata }) => metadata.name === name)
  const reason = whyNotReady(node)
  const version = node?.status?.nodeInfo?.kubeletVersion
  return {
    ...(reason === undefined ? { well: true } : { well: false, reason }),
    ...(version === undefined ? {} : { version }),
  }
}
