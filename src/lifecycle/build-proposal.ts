import { steadyAddons } from '../addons/host-independent.ts'
import { addonImages } from '../addons/desired-addons.ts'
import { catalogFor } from '../catalog/catalog.ts'
import { type Lock, pinnedImages } from '../catalog/lock.ts'
import type { Facts } from '../contract/facts.ts'
import { type Finding, hasErrors, unlessIgnored } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import type { Identity } from '../identity/identity.ts'
import { publicIdentity } from '../identity/public-identity.ts'
import { type RegistryLogin, secretFiles } from '../identity/secret-files.ts'
import { settleAll } from '../kit/settle-all.ts'
import type { Secret } from '../pki/secret.ts'
import { planCluster, type Planned } from '../plan/plan.ts'
import { rollout } from '../rollout/rollout.ts'
import type { Step } from '../rollout/step.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { Answer } from './agent-link.ts'
import { addonsOf, foreseen } from './addons/propose-addons.ts'
import { type AddonProposal, isFeasible, noAddons } from './addons/proposal.ts'
import { clearingOps } from './removal-ops.ts'
import { type InsideChange, nodeChanges, trialChanges } from './cluster-objects/changes.ts'
import type { Node } from './cluster-objects/node.ts'
import { type Leaver, leaversOf, leavingOf } from './hosts-to-remove.ts'
import { liveOf } from './current-state.ts'
import { lostQuorum } from './lost-quorum.ts'
import { tornEtcd } from './etcd-split-brain.ts'
import { placesIn, placesNow, rolesIn } from './host-endpoints.ts'
import { freshHosts } from './network-preflight/new-hosts.ts'
import { peersOf } from './network-preflight/peer.ts'
import { preflight } from './preflight.ts'
import type { Inside, Observer } from './cluster-access.ts'
import type { Session } from './session.ts'
import { changesMinor, versionFindings } from './upgrade/version-findings.ts'

/** What the operator's side knows of a cluster. */
export interface Wish {
  readonly cluster: Cluster
  readonly lock: Lock
  readonly identity: Identity
  readonly attachments: ReadonlyMap<string, string>
  /** Texts of the user's own addons, by the names of their files and URLs. */
  readonly sources: ReadonlyMap<string, string>
  /** Of hyperkube itself, as a host has it. */
  readonly version: (host: string) => string
}

/** What would be done, on which hosts and in which order. */
export interface Proposal {
  readonly findings: readonly Finding[]
  readonly plans: readonly NodePlan[]
  /** By name of host, also of those that leave. */
  readonly ops: ReadonlyMap<string, readonly Op[]>
  /** What is in files and units that would change, by host and by name, where that was asked for. */
  readonly texts?: ReadonlyMap<string, ReadonlyMap<string, string>>
  readonly steps: readonly Step[]
  /** Hosts that are part of the cluster, and have to leave it. */
  readonly leavers: readonly Leaver[]
  /** What is to be changed in a cluster that runs, beside its hosts. */
  readonly inside: readonly InsideChange[]
  readonly addons: AddonProposal
  /** Whether all certificates of hosts that are changed get new keys. */
  readonly renew?: boolean
}

/** A proposal to do nothing. */
export const nothing: Proposal = {
  findings: [],
  plans: [],
  ops: new Map(),
  steps: [],
  leavers: [],
  inside: [],
  addons: noAddons,
}

/** Whether there is anything to do. */
export function isPending({ steps, inside, addons }: Proposal): boolean {
  return steps.length > 0 || inside.length > 0 || addons.differences.some(isFeasible)
}

export function logins({ spec }: Cluster): RegistryLogin[] {
  return spec.registries.flatMap(({ host, username, password }) =>
    password === undefined ? [] : [{ host, username: username ?? '', password: password.secret }],
  )
}

export function secretsOf({ identity, cluster }: Wish): ReadonlyMap<string, Secret> {
  return secretFiles(identity, logins(cluster))
}

export function planFrom(wish: Wish, facts: ReadonlyMap<string, Facts>, ignored: readonly string[]): Planned {
  const { cluster, lock, identity, attachments, sources, version } = wish
  const release = catalogFor(cluster.spec.kubernetes)
  const images = pinnedImages(lock, release)
  const input = {
    cluster,
    release,
    lock,
    images: addonImages(cluster, images),
    addons: steadyAddons({ cluster, images, sources }),
    identity: publicIdentity(identity, secretsOf(wish)),
    facts,
    attachments,
    version,
  }
  return planCluster(input, ignored)
}

/** What the order across hosts forbids would cost the cluster, so it cannot be overlooked. */
export function ofRollout(findings: readonly Finding[], ignored: readonly string[]): Finding[] {
  return findings.filter(unlessIgnored(ignored, () => true))
}

export interface SurveyOptions {
  /** Codes of findings that somebody has seen, and wants to go on in spite of. */
  readonly ignored: readonly string[]
  /** Only these hosts are to be changed. All are looked at: a change of one may be a matter of all. */
  readonly limit?: ReadonlySet<string> | undefined
  /** Whether to ask what is in files that would change. */
  readonly texts?: boolean
  /** Whether all certificates shall be renewed, also those that are good for long. */
  readonly renew?: boolean
  /** Hosts whose etcd was given its data, and has never run with it. */
  readonly restored?: readonly string[]
  /** What a host will have to do by then, from what it says now. */
  readonly expected?: ((plan: NodePlan, ops: readonly Op[]) => readonly Op[]) | undefined
  /** Goes to hosts that have to leave; answers with those of them that answer. */
  readonly meet: (leavers: readonly Leaver[]) => Promise<ReadonlyMap<string, Session>>
}

type HostDiff = Extract<Answer, { type: 'diff' }>

/** Asks every host what it is and what it has, and works out what would be done. Nothing is changed by it. */
export async function survey(
  wish: Wish,
  sessions: ReadonlyMap<string, Session>,
  look: (plans: readonly NodePlan[]) => Promise<Observer & Disposable>,
  { ignored, limit, texts = false, renew = false, restored = [], expected, meet }: SurveyOptions,
): Promise<Proposal> {
  const facts = await factsOf(sessions)
  const { plans, findings } = planFrom(wish, facts, ignored)
  if (hasErrors(findings)) return { ...nothing, findings }
  const addonWish = limit === undefined ? addonsOf(wish, facts) : undefined
  using around = await look(plans)
  const [found, members, ids, seen] = await Promise.all([
    diffsOf(plans, sessions, { texts, renew }, expected),
    around.members(),
    around.etcdIds(),
    around.inside(addonWish),
  ])
  const torn = tornEtcd(ids)
  const stuck = torn.length > 0 || members.length > 0 ? torn : lostQuorum(await around.remembered(), plans)
  if (stuck.length > 0) return { ...nothing, findings: [...findings, ...stuck] }
  const ops = new Map([...found].map(([host, { ops: own }]) => [host, (limit?.has(host) ?? true) ? own : []]))
  const drift = [...found.values()].flatMap((diff) => diff.findings)
  // After the others have been asked: until then nobody of ours may listen where they look for etcd.
  const among = await preflight(sessions, peersOf(wish.cluster, facts), {
    fresh: freshHosts(ops),
    now: () => new Date(),
  })
  const { cluster } = wish
  const nodes = seen?.nodes ?? []
  const places = placesNow(cluster, plans)
  // Whoever names some hosts means those, and not the ones that are gone from the file.
  const leavers = limit === undefined ? leaversOf(places, members, nodes) : []
  const answering = leavers.length === 0 ? new Map<string, Session>() : await meet(leavers)
  const rolled = rollout({
    plans,
    ops,
    live: liveOf({
      plans,
      ops: new Map([...found].map(([host, { ops: own }]) => [host, own])),
      places: placesIn(cluster),
      members,
      restored,
      nodes: nodes.map(({ metadata }) => metadata.name),
      leavers,
    }),
    leaving: leavers.map((leaver) => leavingOf(leaver, answering.has(leaver.host))),
    unreachable: cluster.spec.hosts.map(({ name }) => name).filter((name) => !sessions.has(name)),
    wished: rolesIn(cluster),
    maxUnavailable: cluster.spec.rollout.maxUnavailable,
    kubeletBefore: kubeletsOf(plans, nodes),
  })
  const foreseenTroubles = seen === undefined ? [] : await troublesAhead(around, cluster, seen, rolled.steps)
  const addons =
    seen?.addons ??
    (addonWish === undefined
      ? noAddons
      : await foreseen(addonWish, { identity: wish.identity, now: new Date() }))
  const more = [...among, ...drift, ...rolled.findings, ...foreseenTroubles, ...addons.findings]
  const all = [...findings, ...more.filter(unlessIgnored(ignored))]
  const failed = hasErrors(all)
  const inside =
    failed || seen === undefined
      ? []
      : [...seen.objects, ...nodeChanges(plans, seen.nodes), ...trialChanges(plans, seen.trials)]
  return {
    findings: all,
    plans,
    ops: new Map([...ops, ...(await clearingOps(wish.identity, answering))]),
    texts: new Map([...found].map(([host, diff]) => [host, new Map(Object.entries(diff.texts ?? {}))])),
    steps: failed ? [] : rolled.steps,
    leavers,
    inside,
    addons: failed ? noAddons : addons,
    renew,
  }
}

/** What a change of versions, or pods that have to move, would run into. */
async function troublesAhead(
  around: Observer,
  { spec }: Cluster,
  { nodes, versions }: Inside,
  steps: readonly Step[],
): Promise<readonly Finding[]> {
  const kubelets = nodes.flatMap(({ metadata, status }) => {
    const version = status?.nodeInfo?.kubeletVersion.replace(/^v/, '')
    return version === undefined ? [] : [[metadata.name, version] as const]
  })
  const running = { servers: versions, kubelets: new Map(kubelets) }
  const drained = steps.filter(({ drain }) => drain).flatMap(({ hosts }) => hosts)
  const [removed, drains] = await Promise.all([
    changesMinor(spec.kubernetes, running) ? around.removedApis(spec.kubernetes) : [],
    around.drainFindings(drained),
  ])
  return [...versionFindings(spec.kubernetes, running), ...removed, ...drains]
}

/** The versions that run now, by name of host. */
function kubeletsOf(plans: readonly NodePlan[], nodes: readonly Node[]): ReadonlyMap<string, string> {
  const versions = new Map(
    nodes.map(({ metadata, status }) => [metadata.name, status?.nodeInfo?.kubeletVersion]),
  )
  return new Map(
    plans.flatMap(({ host, node }) => {
      const version = versions.get(node?.name ?? '')
      return version === undefined ? [] : [[host, version] as const]
    }),
  )
}

/** What every host is and has, by name. */
export async function factsOf(sessions: ReadonlyMap<string, Session>): Promise<ReadonlyMap<string, Facts>> {
  const all = await settleAll(
    [...sessions].map(async ([host, session]) => {
      const { facts } = await session.ask({ type: 'facts', host }, 'facts')
      return [host, facts] as const
    }),
  )
  return new Map(all)
}

async function diffsOf(
  plans: readonly NodePlan[],
  sessions: ReadonlyMap<string, Session>,
  asked: { readonly texts: boolean; readonly renew: boolean },
  expected: SurveyOptions['expected'] = (_, ops) => ops,
): Promise<ReadonlyMap<string, HostDiff>> {
  const diffOf = async (plan: NodePlan, session: Session): Promise<readonly [string, HostDiff]> => {
    const found = await session.ask({ type: 'diff', plan, ...asked }, 'diff')
    return [plan.host, { ...found, ops: [...expected(plan, found.ops)] }]
  }
  const all = await settleAll(
    plans.flatMap((plan) => {
      const session = sessions.get(plan.host)
      return session === undefined ? [] : [diffOf(plan, session)]
    }),
  )
  return new Map(all)
}
