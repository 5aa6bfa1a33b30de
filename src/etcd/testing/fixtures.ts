import type { Member, MemberHealth, MemberStatus, Observation } from '../member.ts'

/** For tests: members by name, with what is remarkable about them. */
export interface Sketch {
  readonly learner?: boolean
  readonly health?: 'well' | 'away' | 'unready'
  readonly unstarted?: boolean
  readonly status?: Partial<MemberStatus>
}

export function observationOf(
  sketches: Readonly<Record<string, Sketch>>,
  more: Partial<Observation> = {},
): Observation {
  const members = Object.entries(sketches).map(([name, sketch]) => memberOf(name, sketch))
  const [leader] = members
  return {
    clusterId: 'c1',
    confirmed: true,
    members,
    alarms: [],
    health: new Map(members.map(({ id }) => [id, healths[sketches[id]?.health ?? 'well']])),
    statuses: new Map(
      members.map(({ id, learner }) => [
        id,
        { ...statusOf(id, leader?.id, learner), ...sketches[id]?.status },
      ]),
    ),
    ...more,
  }
}

/** Its id is its name, also while it has none. */
function memberOf(name: string, { learner = false, unstarted = false }: Sketch): Member {
  return {
    id: name,
    name: unstarted ? '' : name,
    peerUrls: [`https://${name}:2380`],
    clientUrls: unstarted ? [] : [`https://${name}:2379`],
    learner,
  }
}

const healths: Readonly<Record<'well' | 'away' | 'unready', MemberHealth>> = {
  well: { live: true, ready: true, failing: [], reason: undefined },
  away: { live: false, ready: false, failing: [], reason: 'no connection' },
  unready: {
    live: true,
    ready: false,
    failing: ['linearizable_read'],
    reason: 'linearizable_read: etcdserver: no leader',
  },
}

function statusOf(id: string, leader: string | undefined, learner: boolean): MemberStatus {
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
