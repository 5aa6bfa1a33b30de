import type { ComponentHealth, HealPause } from '../../contract/health.ts'
import type { HostTrial } from '../../contract/provisional-change.ts'
import type { Node } from '../cluster-objects/node.ts'
import { whyNotReady } from '../cluster-objects/node-readiness.ts'
import type { HostLook } from '../observe/observe-host.ts'
import { type Look, type Well, wellOf } from '../observe/observe-cluster.ts'
import { isAt } from '../etcd-membership.ts'
import type { Unwell } from '../cluster-access.ts'
import type { Place } from '../host-endpoints.ts'
import type { HostServices } from './services.ts'

/** How one host is. What it has no part in is undefined. */
export interface HostStatus {
  readonly host: string
  /** What it runs, where that is not Linux. */
  readonly os?: 'windows'
  /** Why it was not reached; undefined when it was. */
  readonly away: Unwell
  readonly version: string | undefined
  readonly services: HostServices['services']
  readonly etcd?: Well
  readonly api?: Well
  readonly node?: Well & { readonly version?: string }
  /** What it has on trial, or went back from. */
  readonly trial?: HostTrial
  /** Why its agent says nothing; undefined when it does. */
  readonly silent?: string
  /** What its agent does not take for well. */
  readonly unwell?: readonly ComponentHealth[]
  readonly paused?: HealPause
}

/** How hosts are, of all that was seen. */
export function hostStatuses(look: Look): HostStatus[] {
  return look.hosts.map((host) => statusOf(host, look))
}

function statusOf({ place, away, version, services, agent }: HostLook, look: Look): HostStatus {
  const health = agent.state === 'answers' ? agent.health : undefined
  const trial = agent.state === 'answers' ? agent.trial : undefined
  const api = look.api.get(place.host)
  return {
    host: place.host,
    ...(place.os === undefined ? {} : { os: place.os }),
    away: away?.reason,
    version,
    services,
    ...(place.etcd ? { etcd: etcdOf(place, look.etcd) } : {}),
    ...(api === undefined ? {} : { api }),
    ...(place.node === undefined ? {} : { node: nodeOf(place.node, look.nodes) }),
    ...(trial === undefined ? {} : { trial }),
    ...(away === undefined && agent.state === 'silent' ? { silent: agent.reason } : {}),
    ...(health === undefined ? {} : { unwell: health.components.filter(({ state }) => state !== 'well') }),
    ...(health?.paused === undefined ? {} : { paused: health.paused }),
  }
}

/** Whether everything of a host is as it should be. That its agent waits for what it did is no fault any more. */
export function isWell({ away, services, etcd, api, node, silent, unwell = [] }: HostStatus): boolean {
  const parts = [etcd, api, node].filter((part) => part !== undefined)
  return (
    away === undefined &&
    silent === undefined &&
    services.every(({ state }) => state === 'active') &&
    unwell.every(({ state }) => state === 'healing') &&
    parts.every(({ well }) => well)
  )
}

function etcdOf({ address }: Place, etcd: Look['etcd']): Well {
  if (etcd.state === 'silent') return { well: false, reason: etcd.reason }
  const { members, health } = etcd.observed
  const member = members.find(isAt(address))
  if (member === undefined) return { well: false, reason: 'it is no member' }
  const own = health.get(member.id)
  return wellOf(own?.ready === true ? undefined : (own?.reason ?? 'it does not say why'))
}

function nodeOf(name: string, nodes: readonly Node[] | undefined): Well & { readonly version?: string } {
  if (nodes === undefined) return { well: false, reason: 'no API server answers' }
  const node = nodes.find(({ metadata }) => metadata.name === name)
  const version = node?.status?.nodeInfo?.kubeletVersion
  return { ...wellOf(whyNotReady(node)), ...(version === undefined ? {} : { version }) }
}
