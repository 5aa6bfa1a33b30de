import { expect, test } from 'vitest'
import { pickMember } from './save.ts'
import { buildMemberObservation, type ObservedMemberFixture } from './testing/fixtures.ts'

const leader: ObservedMemberFixture = { id: 'a', isLeader: true, index: 20 }

test.each<readonly [what: string, members: readonly ObservedMemberFixture[], picked: string]>([
  ['not the leader', [leader, { id: 'b' }, { id: 'c' }], 'b'],
  ['the highest applied index', [leader, { id: 'b', index: 9 }, { id: 'c', index: 11 }], 'c'],
  ['the leader where there is no other member', [leader], 'a'],
  [
    'the leader where the others are not healthy',
    [leader, { id: 'b', ready: false }, { id: 'c', live: false }],
    'a',
  ],
  ['never a learner', [leader, { id: 'b', learner: true }], 'a'],
  [
    'without a quorum a member that still answers',
    [
      { id: 'a', live: false },
      { id: 'b', ready: false },
    ],
    'b',
  ],
])('%s', (_, members, picked) => {
  expect(pickMember(buildMemberObservation(...members))).toMatchObject({
    member: { id: picked },
    endpoint: `https://${picked}:2379`,
    version: '3.7.3',
  })
})

test('no member answers', () => {
  expect(() => pickMember(buildMemberObservation({ id: 'a', live: false }))).toThrow(
    expect.objectContaining({ code: 'ETCD_UNREACHABLE' }),
  )
})
