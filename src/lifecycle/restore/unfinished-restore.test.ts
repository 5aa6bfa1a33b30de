import { expect, test } from 'vitest'
import type { EtcdRestore } from '../../contract/etcd-restore.ts'
import { placedIn, restoreToGoOnWith, unfinishedRestore } from './unfinished-restore.ts'

const first = '11111111-1111-4111-8111-111111111111'
const second = '22222222-2222-4222-8222-222222222222'
const wish = { snapshot: 'a'.repeat(64), members: ['cp1=https://10.0.0.1:2380', 'cp2=https://10.0.0.2:2380'] }

function restore(id: string, state: EtcdRestore['state'], more: Partial<EtcdRestore> = {}): EtcdRestore {
  return { id, ...wish, state, ...more }
}

test('where no restore is under way, nothing is said', () => {
  expect(unfinishedRestore(new Map())).toEqual([])
})

test('who has what is said', () => {
  const [finding] = unfinishedRestore(
    new Map([
      ['cp1', restore(first, 'placed')],
      ['cp2', restore(first, 'begun')],
    ]),
  )
  expect(finding).toMatchObject({
    code: 'ETCD_RESTORE_UNFINISHED',
    severity: 'error',
    message: 'a restore of etcd was begun and has not ended: cp1 has its data, cp2 has begun',
  })
})

test('the same restore goes on, and whoever has its data is known', () => {
  const restores = new Map([
    ['cp1', restore(first, 'placed')],
    ['cp2', restore(first, 'begun')],
  ])
  expect(restoreToGoOnWith(restores, wish)).toEqual({ id: first, ...wish })
  expect([...placedIn(restores, first)]).toEqual(['cp1'])
  expect([...placedIn(restores, second)]).toEqual([])
})

test.each([
  ['there is none', new Map<string, EtcdRestore>()],
  ['it was of another snapshot', new Map([['cp1', restore(first, 'placed', { snapshot: 'b'.repeat(64) })]])],
  [
    'it was for other members',
    new Map([['cp1', restore(first, 'placed', { members: wish.members.slice(1) })]]),
  ],
  [
    'there are two of them',
    new Map([
      ['cp1', restore(first, 'placed')],
      ['cp2', restore(second, 'placed')],
    ]),
  ],
])('every member is given its data anew when %s', (_why, restores) => {
  expect(restoreToGoOnWith(restores, wish)).toBeUndefined()
})
