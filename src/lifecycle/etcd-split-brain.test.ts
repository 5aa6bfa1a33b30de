import { expect, test } from 'vitest'
import { checkEtcdSplitBrain } from './etcd-split-brain.ts'

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
    { code: 'ETCD_SPLIT_BRAIN', severity: 'error', message: 'there are 2 etcds: cp1 | cp2 and cp3' },
  ])
})
