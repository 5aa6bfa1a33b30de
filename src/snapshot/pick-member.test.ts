import { expect, test } from 'vitest'
import { observationOf, type SeenMember } from './testing/fixtures.ts'
import { pickMember } from './pick-member.ts'

const leader: SeenMember = { id: 'a', leads: true, index: 20 }

test.each<readonly [what: string, members: readonly SeenMember[], picked: string]>([
  ['not the leader', [leader, { id: 'b' }, { id: 'c' }], 'b'],
  ['who has come furthest', [leader, { id: 'b', index: 9 }, { id: 'c', index: 11 }], 'c'],
  ['the leader where there is nobody else', [leader], 'a'],
  [
    'the leader where the others are not well',
    [leader, { id: 'b', ready: false }, { id: 'c', live: false }],
    'a',
  ],
  ['never one that learns', [leader, { id: 'b', learner: true }], 'a'],
  [
    'without a quorum who still answers',
    [
      { id: 'a', live: false },
      { id: 'b', ready: false },
    ],
    'b',
  ],
])('%s', (_, members, picked) => {
  expect(pickMember(observationOf(...members))).toMatchObject({
    member: { id: picked },
    endpoint: `https://${picked}:2379`,
    version: '3.7.3',
  })
})

test('nobody', () => {
  expect(() => pickMember(observationOf({ id: 'a', live: false }))).toThrow(
    expect.objectContaining({ code: 'ETCD_UNREACHABLE' }),
  )
})
