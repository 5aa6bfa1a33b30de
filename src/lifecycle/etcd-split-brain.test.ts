import { expect, test } from 'vitest'
import { tornEtcd } from './etcd-split-brain.ts'

test('members of one etcd are no finding, however few of them answer', () => {
  expect(tornEtcd(new Map())).toEqual([])
  expect(tornEtcd(new Map([['cp1', 'a']]))).toEqual([])
  const one = ['cp1', 'cp2', 'cp3'].map((host) => [host, 'a'] as const)
  expect(tornEtcd(new Map(one))).toEqual([])
})

test('whoever remembers another one is named, by sides', () => {
  const ids = new Map([
    ['cp1', 'a'],
    ['cp2', 'b'],
    ['cp3', 'b'],
  ])
  expect(tornEtcd(ids)).toMatchObject([
    { code: 'ETCD_TORN', severity: 'error', message: 'there are 2 etcds: cp1 | cp2 and cp3' },
  ])
})
