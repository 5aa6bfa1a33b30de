import type { HealAction, HealPause } from '../../contract/health.ts'
import { type Alarm, titleOf } from '../../etcd/member.ts'
import { type CertificateFacts, inspectCertificate } from '../../pki/inspect.ts'
import { whyNotReady } from '../cluster-objects/node-readiness.ts'
import type { HostLook } from '../observe/observe-host.ts'
import type { Look } from '../observe/observe-cluster.ts'
import type { AddonReadiness } from './addon-readiness.ts'

/** So many of all. */
export interface Share {
  readonly well: number
  readonly all: number
}

export interface EtcdStatus extends Share {
  readonly quorum: boolean
  readonly leader?: string
  /** Bytes, of the largest database. */
  readonly size?: number
  readonly alarms: readonly Alarm['alarm'][]
}

/** A certificate of a host, as far as one wants to know when it ends. */
export interface Expiry {
  readonly host: string
  readonly component: string
  readonly file: string
  readonly until: string
}

/** How a cluster is as a whole. */
export interface ClusterStatus {
  /** As cluster.yml has it. */
  readonly kubernetes: string
  readonly hosts: Share
  readonly nodes: Share
  readonly etcd: EtcdStatus
  readonly api: Share
  /** The certificate that expires first, of hosts that answer. */
  readonly expiry?: Expiry
  /** None when the API does not answer. */
  readonly addons?: readonly AddonReadiness[]
  /** What agents did lately, the newest first. */
  readonly actions: readonly (HealAction & { readonly host: string })[]
  readonly paused: readonly (HealPause & { readonly host: string })[]
}

const shownActions = 10

export function clusterStatus(
  look: Look,
  kubernetes: string,
  addons: readonly AddonReadiness[] | undefined,
): ClusterStatus {
  const { hosts, api } = look
  const healths = hosts.flatMap(({ place: { host }, agent }) =>
    agent.state === 'answers' && agent.health !== undefined ? [{ host, health: agent.health }] : [],
  )
  const expiry = hosts.flatMap(expiries).toSorted((a, b) => (a.until < b.until ? -1 : 1))[0]
  return {
    kubernetes,
    hosts: { well: hosts.filter(({ away }) => away === undefined).length, all: hosts.length },
    nodes: nodesOf(look),
    etcd: etcdOf(look),
    api: { well: [...api.values()].filter(({ well }) => well).length, all: api.size },
    ...(expiry === undefined ? {} : { expiry }),
    ...(addons === undefined ? {} : { addons }),
    actions: healths
      .flatMap(({ host, health }) => health.actions.map((action) => ({ host, ...action })))
      .toSorted((a, b) => (a.at > b.at ? -1 : 1))
      .slice(0, shownActions),
    paused: healths.flatMap(({ host, health }) =>
      health.paused === undefined ? [] : [{ host, ...health.paused }],
    ),
  }
}

function nodesOf({ places, nodes = [] }: Look): Share {
  const names = places.flatMap(({ node }) => node ?? [])
  const ready = nodes.filter((node) => names.includes(node.metadata.name) && whyNotReady(node) === undefined)
  return { well: ready.length, all: names.length }
}

function etcdOf({ etcd, places }: Look): EtcdStatus {
  const all = places.filter((place) => place.etcd).length
  if (etcd.state === 'silent') return { quorum: false, well: 0, all, alarms: [] }
  const { members, health, statuses, alarms, confirmed } = etcd.observed
  const leaders = new Set([...statuses.values()].map((status) => status.leader))
  const leader = members.find(({ id }) => leaders.has(id))
  const sizes = [...statuses.values()].map(({ size }) => size)
  return {
    quorum: confirmed,
    well: [...health.values()].filter(({ ready }) => ready).length,
    all: members.length,
    ...(leader === undefined ? {} : { leader: titleOf(leader) }),
    ...(sizes.length === 0 ? {} : { size: Math.max(...sizes) }),
    alarms: [...new Set(alarms.map(({ alarm }) => alarm))],
  }
}

function expiries({ place: { host }, agent }: HostLook): Expiry[] {
  if (agent.state !== 'answers') return []
  return agent.certificates.flatMap(({ component, file, certificate }) => {
    const facts = certificate === undefined ? undefined : read(certificate)
    return facts === undefined ? [] : [{ host, component, file, until: facts.notAfter.toISOString() }]
  })
}

/** What is in a file may be anything. */
function read(pem: string): CertificateFacts | undefined {
  try {
    return inspectCertificate(pem)
  } catch {
    return undefined
  }
}
