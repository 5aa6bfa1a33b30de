import { expect, test } from 'vitest'
import { pickMember } from './save.ts'
import { buildMemberObservation, type ObservedMemberFixture } from './testing/fixtures.ts'

const leader: ObservedMemberFixture = { id: 'a', isLeader: true, index: 20 }

test.each<readonly [what: string, members: readonly ObservedMemberFixture[], picked: string]>([
  ['a follower instead of the leader', [leader, { id: 'b' }, { id: 'c' }], 'b'],
  [
    'the follower with the highest applied index',
    [leader, { id: 'b', index: 9 }, { id: 'c', index: 11 }],
    'c',
  ],
  ['the leader if there is no other member', [leader], 'a'],
  [
    'the leader if the other members are unhealthy',
    [leader, { id: 'b', ready: false }, { id: 'c', live: false }],
    'a',
  ],
  ['the leader instead of a learner', [leader, { id: 'b', learner: true }], 'a'],
  [
    'a live member if there is no quorum',
    [
      { id: 'a', live: false },
      { id: 'b', ready: false },
    ],
    'b',
  ],
])('the snapshot is taken from %s', (_, members, picked) => {
  expect(pickMember(buildMemberObservation(...members))).toMatchObject({
    member: { id: picked },
    endpoint: `https://${picked}:2379`,
    version: '3.7.3',
  })
})

test('without a reachable member no snapshot is taken', () => {
  expect(() => pickMember(buildMemberObservation({ id: 'a', live: false }))).toThrow(
    expect.objectContaining({ code: 'ETCD_UNREACHABLE' }),
  )
})
