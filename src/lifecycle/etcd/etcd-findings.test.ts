import { expect, test } from 'vitest'
import { checkEtcdSplitBrain, checkLostQuorum } from './etcd-findings.ts'
import type { KnownEtcdMember } from './membership.ts'

function member(number: number, learner = false): KnownEtcdMember {
  return { name: `cp${number}`, peerUrls: [`https://10.0.0.${number}:2380`], learner }
}

const three = [1, 2, 3].map((number) => member(number))
const at = (...numbers: readonly number[]) => numbers.map((number) => ({ address: `10.0.0.${number}` }))

test('one of three that is left never decides anything, and how it comes back is said', () => {
  expect(checkLostQuorum(three, at(1, 7))).toEqual([
    {
      code: 'ROLLOUT_QUORUM',
      severity: 'error',
      message: 'etcd has no quorum without cp2 and cp3: 2 of 3 members are needed',
      hint: 'make their hosts reachable and list them in cluster.yml; if they are lost permanently: hyperkube etcd recover',
    },
  ])
})

test('those who are enough only have to start, or to choose a leader', () => {
  expect(checkLostQuorum(three, at(1, 2))).toEqual([])
  expect(checkLostQuorum([member(1)], at(1))).toEqual([])
})

test('learners do not count, and there is no finding before etcd exists', () => {
  expect(checkLostQuorum([member(1), member(2, true)], at(1))).toEqual([])
  expect(checkLostQuorum([], at(1))).toEqual([])
})

test('members of one etcd are no finding, however few of them answer', () => {
  expect(checkEtcdSplitBrain(new Map())).toEqual([])
  expect(checkEtcdSplitBrain(new Map([['cp1', 'a']]))).toEqual([])
  const one = ['cp1', 'cp2', 'cp3'].map((host) => [host, 'a'] as const)
  expect(checkEtcdSplitBrain(new Map(one))).toEqual([])
})

test('hosts of different etcd clusters are named by side', () => {
  const ids = new Map([
    ['cp1', 'a'],
    ['cp2', 'b'],
    ['cp3', 'b'],
  ])
  expect(checkEtcdSplitBrain(ids)).toMatchObject([
    {
      code: 'ETCD_SPLIT_BRAIN',
      severity: 'error',
      message: 'the hosts run 2 separate etcd clusters: cp1 | cp2 and cp3',
    },
  ])
})
