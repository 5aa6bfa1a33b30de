import { toMinor } from '../../catalog/version.ts'
import { needsRaftSnapshot } from '../../catalog/etcd-path.ts'
import { memberAddLearner, memberPromote, memberRemove, transferLeadership } from '../../etcd/changes.ts'
import type { EtcdClient } from '../../etcd/client.ts'
import { EtcdError, isEtcdError } from '../../etcd/etcd-error.ts'
import type { EtcdMember, EtcdObservation } from '../../etcd/member.ts'
import { observeEtcd } from '../../etcd/observe.ts'
import { saveRaftSnapshots } from '../../etcd/raft-snapshots.ts'
import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { pollWithProgress } from '../../kit/poll.ts'
import type { HostAddress as PlannedMember } from '../../plan/topology.ts'

/** An entry of the member list that etcd returns. */
export interface KnownEtcdMember {
  /** Host name of the member; empty until the member has started once. */
  readonly name: string
  readonly peerUrls: readonly string[]
  readonly learner: boolean
}

const pollIntervalMs = 500

/** How long to wait, and where to report the reason for waiting. */
export interface ClusterWaitOptions {
  readonly waiting: (reason: string, since: string) => void
  readonly timeoutMs: number
  readonly now: () => Date
  readonly signal: AbortSignal
}

/**
 * Adds a host to a running etcd as a learner. Returns all members, because the configuration of the new
 * member lists them.
 */
export async function joinEtcd(
  etcd: EtcdClient,
  { name, address }: PlannedMember,
  options: ClusterWaitOptions,
): Promise<readonly PlannedMember[]> {
  const peerUrl = buildPeerUrl(address)
  // etcd refuses a membership change for some seconds after the previous one, so the request is repeated.
  await retryUntilTimeout(options, `${name} cannot join etcd`, async () => {
    await memberAddLearner(etcd, await observeEtcd(etcd), peerUrl)
  })
  const { members } = await etcd.members()
  return members.map((member) => ({
    name: member.peerUrls.includes(peerUrl) ? name : member.name,
    address: new URL(member.peerUrls[0] ?? peerUrl).hostname,
  }))
}

/**
 * Promotes a learner as soon as it is in sync. If it is not in sync before the timeout, it is removed again.
 */
export async function promoteLearner(
  etcd: EtcdClient,
  { name, address }: PlannedMember,
  options: ClusterWaitOptions,
): Promise<void> {
  try {
    await retryUntilTimeout(options, `${name} does not catch up with the other etcd members`, async () => {
      const observed = await observeEtcd(etcd)
      await memberPromote(etcd, observed, findMember(observed, { name, address }).id)
    })
  } catch (error) {
    if (!(error instanceof HyperkubeError) || error.code !== 'ETCD_LEARNER_STUCK') throw error
    // The learner is removed, because etcd accepts no other new member while it has a learner.
    await removeEtcdMember(etcd, { name, address }).catch(() => undefined)
    throw error
  }
}

/**
 * Removes the etcd member of a host. A leader transfers its leadership first, which avoids an election
 * timeout.
 */
export async function removeEtcdMember(etcd: EtcdClient, host: MemberHost): Promise<void> {
  const observed = await observeEtcd(etcd)
  const member = observed.members.find(isMemberOf(host))
  if (member === undefined) return
  await transferLeadershipFrom(member, etcd, observed)
  await memberRemove(etcd, observed, member.id)
}

/**
 * Transfers leadership away from a host that is about to restart etcd. A leader that stops transfers its
 * leadership too, but only after it has closed the connections of its clients. Their requests then reach
 * other members while etcd has no leader, and time out.
 */
export async function releaseEtcdLeadership(etcd: EtcdClient, host: MemberHost): Promise<void> {
  const observed = await observeEtcd(etcd)
  const member = observed.members.find(isMemberOf(host))
  if (member !== undefined) await transferLeadershipFrom(member, etcd, observed)
}

/** The etcd that a member will run. */
export interface NextEtcd {
  readonly version: string
  /** True if the host can still return to the etcd of another tool, which cannot read data of a newer minor. */
  readonly canReturn: boolean
}

/**
 * Prepares the member of a host for another version of etcd. `saved` has the ids of members that have saved a
 * raft snapshot in this run; members that save one are added. Throws if the version would make the rollback of
 * an adopted host impossible.
 */
export async function prepareEtcdUpgrade(
  etcd: EtcdClient,
  { version, canReturn, ...host }: NextEtcd & MemberHost,
  saved: Set<string>,
  { waiting, now, signal }: ClusterWaitOptions,
): Promise<void> {
  const { members, statuses } = await observeEtcd(etcd, { signal })
  const member = members.find(isMemberOf(host))
  const current = member === undefined ? undefined : statuses.get(member.id)?.version
  if (member === undefined || current === undefined) return
  if (canReturn && readMinor(current) !== readMinor(version)) throw otherMinor(member, current, version)
  if (saved.has(member.id)) return
  if (!needsRaftSnapshot(current, version)) return
  waiting('etcd saves a raft snapshot', now().toISOString())
  for (const id of await saveRaftSnapshots(etcd, members, [member.id], { signal })) saved.add(id)
}

function readMinor(version: string): string {
  return toMinor(version.replace(/^v/, ''))
}

function otherMinor({ name }: EtcdMember, current: string, version: string): HyperkubeError {
  return new HyperkubeError(
    'ADOPT_ETCD_VERSION',
    `etcd ${version} would replace ${current} of ${name}, and the host could not return to the other tool then`,
    {
      hint: 'restore the cluster.lock that hyperkube adopt wrote, or commit, after which no rollback is possible: hyperkube adopt commit',
    },
  )
}

/** Transfers leadership to a ready voter if this member leads and there is such a voter. */
async function transferLeadershipFrom(
  { id: leader }: EtcdMember,
  etcd: EtcdClient,
  observed: EtcdObservation,
): Promise<void> {
  if (observed.statuses.get(leader)?.leader !== leader) return
  const successor = observed.members.find(
    ({ id, learner }) => id !== leader && !learner && observed.health.get(id)?.ready === true,
  )
  if (successor !== undefined) await transferLeadership(etcd, observed, successor.id)
}

async function retryUntilTimeout(
  { waiting, timeoutMs, now, signal }: ClusterWaitOptions,
  problem: string,
  work: () => Promise<void>,
): Promise<void> {
  await pollWithProgress(async () => work().then(() => undefined, reasonToWait), {
    report: waiting,
    toTimeoutError: (reason) =>
      new HyperkubeError('ETCD_LEARNER_STUCK', `${problem}: ${reason}`, {
        component: 'etcd',
        hint: 'check the disk of the host and its network to the other members: hyperkube etcd status; then: hyperkube up',
      }),
    now,
    deadline: now().getTime() + timeoutMs,
    intervalMs: pollIntervalMs,
    signal,
  })
}

const temporaryCodes = ['ETCD_UNAVAILABLE', 'ETCD_UNREACHABLE', 'ETCD_QUORUM'] as const

/** Returns the message of a temporary error; throws any other error. */
function reasonToWait(error: unknown): string {
  const isSyncing = isEtcdError(error, 'ETCD_REFUSED') && error.message.includes('in sync with leader')
  if (isSyncing || temporaryCodes.some((code) => isEtcdError(error, code))) return formatError(error)
  throw error
}

function findMember({ members }: EtcdObservation, host: MemberHost): EtcdMember {
  const member = members.find(isMemberOf(host))
  if (member !== undefined) return member
  throw new EtcdError('ETCD_MEMBERS_CHANGED', `etcd no longer has a member of ${host.name}`)
}

/** A host that may have an etcd member. Its address is undefined if it is in no file and the host is unreachable. */
export interface MemberHost {
  readonly name: string
  readonly address: string | undefined
}

/**
 * True if the member belongs to the host. The address decides, because a host that is replaced may keep its name.
 * Only without a known address the name decides.
 */
export function isMemberOf({
  name,
  address,
}: MemberHost): (member: Pick<EtcdMember, 'name' | 'peerUrls'>) => boolean {
  return (member) =>
    address === undefined ? member.name === name : member.peerUrls.includes(buildPeerUrl(address))
}

function buildPeerUrl(address: string): string {
  return `https://${address}:2380`
}
