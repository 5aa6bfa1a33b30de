import type { EtcdMember, MemberHealth, MemberStatus, EtcdObservation } from '../member.ts'

/** Differences between a member for tests and a healthy voter. */
export interface MemberFixture {
  readonly learner?: boolean
  readonly health?: 'healthy' | 'unreachable' | 'unready'
  readonly unstarted?: boolean
  readonly status?: Partial<MemberStatus>
}

export function buildEtcdObservation(
  fixtures: Readonly<Record<string, MemberFixture>>,
  more: Partial<EtcdObservation> = {},
): EtcdObservation {
  const members = Object.entries(fixtures).map(([name, fixture]) => buildMember(name, fixture))
  const [leader] = members
  return {
    clusterId: 'c1',
    confirmed: true,
    members,
    alarms: [],
    health: new Map(members.map(({ id }) => [id, healths[fixtures[id]?.health ?? 'healthy']])),
    statuses: new Map(
      members.map(({ id, learner }) => [
        id,
        { ...buildStatus(id, leader?.id, learner), ...fixtures[id]?.status },
      ]),
    ),
    ...more,
  }
}

/** Builds a member whose id equals its name. An unstarted member has an empty name. */
function buildMember(name: string, { learner = false, unstarted = false }: MemberFixture): EtcdMember {
  return {
    id: name,
    name: unstarted ? '' : name,
    peerUrls: [`https://${name}:2380`],
    clientUrls: unstarted ? [] : [`https://${name}:2379`],
    learner,
  }
}

const healths: Readonly<Record<'healthy' | 'unreachable' | 'unready', MemberHealth>> = {
  healthy: { live: true, ready: true, failing: [], reason: undefined },
  unreachable: { live: false, ready: false, failing: [], reason: 'no connection' },
  unready: {
    live: true,
    ready: false,
    failing: ['linearizable_read'],
    reason: 'linearizable_read: etcdserver: no leader',
  },
}

function buildStatus(id: string, leader: string | undefined, learner: boolean): MemberStatus {
  return {
    id,
    clusterId: 'c1',
    version: '3.7.3',
    leader,
    learner,
    raftIndex: 100,
    raftAppliedIndex: 100,
    raftTerm: 2,
    size: 20_000,
    sizeInUse: 10_000,
    quota: 8 * 2 ** 30,
    errors: [],
  }
}
