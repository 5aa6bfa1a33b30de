import { randomUUID } from 'node:crypto'
import { type EtcdRestoreId, etcdUnit } from '../../../contract/etcd-restore.ts'
import { type Finding, hasErrors } from '../../../contract/finding.ts'
import { bundleKey } from '../../../identity/bundle-key.ts'
import type { Identity } from '../../../identity/identity.ts'
import { leaversOf } from '../../../lifecycle/hosts-to-remove.ts'
import type { Observer } from '../../../lifecycle/cluster-access.ts'
import { type Place, placesNow } from '../../../lifecycle/host-endpoints.ts'
import type { Foreseen } from '../../../lifecycle/plan-document.ts'
import { type FreshMember, type MemberArchive, restoreEtcd } from '../../../lifecycle/restore/restore-etcd.ts'
import { opsAfterStops, opsOfRestore } from '../../../lifecycle/restore/restore-ops.ts'
import { placedIn, restoreToGoOnWith } from '../../../lifecycle/restore/unfinished-restore.ts'
import { toldAside } from '../../../lifecycle/event-stream.ts'
import type { Proposal } from '../../../lifecycle/build-proposal.ts'
import { memberArchive, type Seat, seatText } from '../../../snapshot/member-data.ts'
import type { EtcdPrograms } from '../../../snapshot/temporary-etcd.ts'
import type { TakenOut } from '../../../snapshot/verify.ts'
import type { Cluster } from '../../../spec/cluster.ts'
import { openClusterBundle } from '../../bundle/open-cluster-bundle.ts'
import { exitCodes } from '../../command.ts'
import type { Verdict } from '../../run-with-progress.ts'
import { agreedByName } from '../../reset/confirm-by-name.ts'
import { bringUp, type UpScene } from '../../up/propose-and-execute.ts'
import { missingFindings } from '../../up/unreachable-findings.ts'
import { proposeLive, remotesOf } from '../../up/propose.ts'
import { refused } from '../../up/refused-result.ts'
import { underClaim } from '../../up/operator-lock.ts'
import { count } from '../../format-text.ts'
import { etcdThrough } from '../open-etcd.ts'
import { etcdNow } from './etcd-now.ts'
import { restoreFindings } from './findings.ts'
import { restoreText } from './text.ts'

/** A snapshot that was found to be good. */
export interface GoodSnapshot extends TakenOut {
  readonly name: string
  /** The identity that is in it. */
  readonly former: Identity
}

export interface ComeBackScene extends Omit<UpScene, 'restored'> {
  readonly snapshot: GoodSnapshot
  readonly programs: EtcdPrograms
  /** For data of members, until it is brought to them. */
  readonly directory: string
}

/** Looks at hosts that were reached, says what would be lost, asks, and brings the cluster back from a snapshot. */
export async function comeBack(scene: ComeBackScene): Promise<Verdict> {
  const { context, options, wish, crew, flags, run, snapshot } = scene
  const { cluster, identity } = wish
  const members = membersOf(cluster, [])
  const names = members.map(({ host }) => host)
  // All of them are made anew: one that is not there would come back with what it knew before.
  const away = missingFindings(crew.missing, new Set(names)).map((one) =>
    one.severity === 'error' ? { ...one, hint: backOrOut } : one,
  )
  if (hasErrors(away)) return tellRefused(scene, away)
  const after = { ...scene, crew: { ...crew, restores: new Map() }, restored: names }
  // What will be found once everything is stopped must be known before.
  const proposal = await proposeLive({
    ...after,
    ignore: flags.ignore,
    look: async () => silence,
    expected: (plan, ops) => opsAfterStops({ plan, ops, member: names.includes(plan.host) }),
  })
  if (hasErrors(proposal.findings)) return refused(proposal.findings)
  const places = membersOf(cluster, proposal.plans)
  using etcd = await etcdThrough(context, identity, places, remotesOf(crew))
  const found = await etcdNow(etcd, places)
  const leftOut = leaversOf(placesNow(cluster, proposal.plans), found.members, []).map(({ host }) => host)
  const findings = restoreFindings({
    ...snapshot,
    now: identity,
    kubernetes: cluster.spec.kubernetes,
    leftOut,
  }).filter(({ code }) => !flags.ignore.includes(code))
  if (hasErrors(findings)) return tellRefused(scene, findings)
  for (const finding of findings) run.tell({ type: 'finding', finding })
  const { name, manifest } = snapshot
  const hosts = [...crew.sessions.keys()]
  scene.foreseen?.(allOf(proposal, hosts, names))
  run.say(restoreText({ name, manifest, now: context.now(), current: found.current, members: names, hosts }))
  if (flags.dryRun) return { code: exitCodes.changesPending, result: { outcome: 'unchanged' } }
  const answer = await agreedByName(context, options, cluster.metadata.name, flags.mayAsk)
  if (answer !== true) return { code: answer, result: { outcome: 'unchanged' } }
  const seats = places.map(({ host, address }) => ({ name: host, address }))
  await replaceData(scene, proposal, seats)
  // Who was stopped just now has not drifted.
  const ignore = [...flags.ignore, 'HOST_DRIFT']
  return await bringUp({ ...after, options: { ...options, yes: true }, flags: { ...flags, ignore } })
}

const backOrOut =
  'every member is given its data: bring it back, or take it out of cluster.yml if it is lost for good'

function membersOf(cluster: Cluster, plans: Proposal['plans']): Place[] {
  return placesNow(cluster, plans).filter(({ etcd }) => etcd)
}

/** What comes before everything comes up again, and that. */
function allOf(proposal: Proposal, hosts: readonly string[], members: readonly string[]): Foreseen {
  const ops = proposal.plans.map((plan) => {
    const own = proposal.ops.get(plan.host) ?? []
    const before = opsOfRestore({ plan, ops: own, member: members.includes(plan.host) })
    return [plan.host, [...before, ...own]] as const
  })
  const steps = [
    { id: 'stop', hosts },
    { id: 'stop-etcd', hosts: members },
    { id: 'place', hosts: members },
  ]
  return { ...proposal, ops: new Map(ops), steps: [...steps, ...proposal.steps] }
}

function tellRefused({ run }: ComeBackScene, findings: readonly Finding[]): Verdict {
  for (const finding of findings) run.tell({ type: 'finding', finding })
  return refused(findings)
}

async function replaceData(scene: ComeBackScene, proposal: Proposal, seats: readonly Seat[]): Promise<void> {
  const { context, options, wish, crew, flags, run, snapshot, begin } = scene
  const members = seats.map(({ name }) => name)
  const wished = { snapshot: snapshot.manifest.files['etcd.db'].sha256, members: seats.map(seatText) }
  const restore = restoreToGoOnWith(crew.restores, wished) ?? { id: randomUUID(), ...wished }
  const placed = placedIn(crew.restores, restore.id)
  const due = seats.filter(({ name }) => !placed.has(name))
  const archives = await toldAside(
    { tell: run.tell, signal: context.signal },
    { step: 'make', title: `make the data of ${count(due.length, 'member')}`, hosts: [] },
    async () => archivesFor(scene, restore, seats, due),
  )
  const fresh = withoutEtcd(proposal, new Set(members))
  const others = [...crew.restores].filter(([host]) => !members.includes(host))
  const stale = new Map(others.map(([host, { id }]) => [host, id]))
  const { publicKey } = bundleKey(wish.identity)
  await using bundle = await openClusterBundle(context, options.file, wish.cluster, publicKey)
  begin()
  await underClaim({ ...scene, forceUnlock: flags.forceUnlock }, async ({ claim }, signal) =>
    restoreEtcd(wish, { restore, members, archives, fresh, stale }, crew.sessions, {
      claim,
      bundle,
      tell: run.tell,
      now: context.now,
      signal,
    }),
  )
}

/** One after the other: each needs as much room as the database. */
async function archivesFor(
  { context, wish, snapshot, programs, directory }: ComeBackScene,
  { id }: EtcdRestoreId,
  members: readonly Seat[],
  due: readonly Seat[],
): Promise<ReadonlyMap<string, MemberArchive>> {
  const token = `${wish.identity.id}-${id.slice(0, 8)}`
  const archives = new Map<string, MemberArchive>()
  for (const seat of due) {
    const data = { database: snapshot.file, members, token }
    archives.set(seat.name, await memberArchive(programs, data, seat, directory, context.signal))
  }
  return archives
}

/** Members that were never given their etcd. */
function withoutEtcd({ plans, ops }: Proposal, members: ReadonlySet<string>): readonly FreshMember[] {
  return plans
    .filter(({ host }) => members.has(host))
    .map((plan) => ({ plan, ops: ops.get(plan.host) ?? [] }))
    .filter(({ ops: own }) => own.some(({ name, action }) => name === etcdUnit && action === 'create'))
}

/** How a cluster looks of which nothing answers. */
const silence: Observer & Disposable = {
  members: async () => [],
  remembered: async () => [],
  etcdIds: async () => new Map(),
  inside: async () => undefined,
  etcdWell: async () => 'it is stopped',
  apiReady: async () => 'it is stopped',
  controllersReady: async () => 'it is stopped',
  nodesReady: async () => 'it is stopped',
  isVoter: async () => 'it is stopped',
  drainFindings: async () => [],
  removedApis: async () => [],
  [Symbol.dispose]: () => undefined,
}
