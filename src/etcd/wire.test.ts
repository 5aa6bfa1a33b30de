import { describe, expect, test } from 'vitest'
import { alarmResponse, memberListResponse, statusResponse } from './wire.ts'
import { decimalId, hexId } from './member.ts'

const header = { cluster_id: '324952591200643719', member_id: '3319814642761637952', raft_term: '2' }

test('ids keep all 64 bits', () => {
  expect(hexId('18446744073709551615')).toBe('ffffffffffffffff')
  expect(decimalId('ffffffffffffffff')).toBe('18446744073709551615')
})

test('members are parsed with defaults for fields that etcd omits', () => {
  const peerURLs = ['https://10.0.0.1:2380']
  const members = [
    { ID: '3319814642761637952', name: 'one', peerURLs, clientURLs: ['https://10.0.0.1:2379'] },
    { ID: '11567385626101742490', peerURLs: ['https://10.0.0.2:2380'], isLearner: true },
  ]
  expect(memberListResponse.parse({ header, members })).toEqual({
    clusterId: '48276a8f75b6a87',
    members: [
      {
        id: '2e1259d415f2a040',
        name: 'one',
        peerUrls: peerURLs,
        clientUrls: ['https://10.0.0.1:2379'],
        learner: false,
      },
      {
        id: 'a0879bf0b7c0fb9a',
        name: '',
        peerUrls: ['https://10.0.0.2:2380'],
        clientUrls: [],
        learner: true,
      },
    ],
  })
})

test('a response without members is invalid', () => {
  expect(memberListResponse.safeParse({ header }).success).toBe(false)
})

describe('a status response of etcd 3.6.16 and 3.7.3', () => {
  const common = { leader: '3319814642761637952', raftIndex: '7', raftTerm: '2', raftAppliedIndex: '6' }

  test('is parsed for a healthy member', () => {
    const response = {
      header,
      version: '3.7.3',
      dbSize: '24576',
      dbSizeInUse: '16384',
      dbSizeQuota: '2147483648',
    }
    expect(
      statusResponse.parse({ ...response, ...common, storageVersion: '3.7.0', downgradeInfo: {} }),
    ).toEqual({
      id: '2e1259d415f2a040',
      clusterId: '48276a8f75b6a87',
      version: '3.7.3',
      leader: '2e1259d415f2a040',
      learner: false,
      raftIndex: 7,
      raftAppliedIndex: 6,
      raftTerm: 2,
      size: 24_576,
      sizeInUse: 16_384,
      quota: 2_147_483_648,
      errors: [],
    })
  })

  test('is parsed for a member without a leader', () => {
    const errors = ['etcdserver: no leader']
    expect(statusResponse.parse({ header, version: '3.6.16', errors })).toMatchObject({
      leader: undefined,
      errors,
    })
  })
})

test('alarms are parsed, and a response without alarms is an empty list', () => {
  expect(alarmResponse.parse({ header })).toEqual([])
  expect(alarmResponse.parse({ header, alarms: [{ memberID: '17', alarm: 'NOSPACE' }] })).toEqual([
    { memberId: '11', alarm: 'NOSPACE' },
  ])
})
