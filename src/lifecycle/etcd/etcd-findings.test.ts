import { expect, test } from 'vitest'
import { checkEtcdSplitBrain, checkLostQuorum } from './etcd-findings.ts'
import type { KnownEtcdMember } from './membership.ts'

function member(number: number, learner = false): KnownEtcdMember {
  return { name: `cp${number}`, peerUrls: [`https://10.0.0.${number}:2380`], learner }
}

const three = [1, 2, 3].map((number) => member(number))
const at = (...numbers: readonly number[]) =>
  numbers.map((number) => ({ host: `cp${number}`, address: `10.0.0.${number}` }))

test('one of three reachable etcd members is an error with a recovery hint', () => {
  expect(checkLostQuorum(three, at(1, 7))).toEqual([
    {
      code: 'ROLLOUT_QUORUM',
      severity: 'error',
      message: 'etcd has no quorum without cp2 and cp3: 2 of 3 members are needed',
      hint: 'make their hosts reachable and list them in cluster.yml; if they are lost permanently: hyperkube etcd recover',
    },
  ])
})

test('a majority of etcd members is no finding', () => {
  expect(checkLostQuorum(three, at(1, 2))).toEqual([])
  expect(checkLostQuorum([member(1)], at(1))).toEqual([])
})

test('learners do not count for the quorum, and there is no finding before etcd exists', () => {
  expect(checkLostQuorum([member(1), member(2, true)], at(1))).toEqual([])
  expect(checkLostQuorum([], at(1))).toEqual([])
})

test('hosts with the same etcd cluster id are no finding', () => {
  expect(checkEtcdSplitBrain(new Map())).toEqual([])
  expect(checkEtcdSplitBrain(new Map([['cp1', 'a']]))).toEqual([])
  const one = ['cp1', 'cp2', 'cp3'].map((host) => [host, 'a'] as const)
  expect(checkEtcdSplitBrain(new Map(one))).toEqual([])
})

test('hosts with different etcd cluster ids are reported as a split brain, grouped by cluster', () => {
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
