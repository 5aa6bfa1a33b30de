import { expect, test } from 'vitest'
import type { EtcdRestoreProgress } from '../../contract/etcd-restore.ts'
import { listHostsWithData, findRestoreToResume, checkUnfinishedRestore } from './unfinished-restore.ts'

const first = '11111111-1111-4111-8111-111111111111'
const second = '22222222-2222-4222-8222-222222222222'
const spec = { snapshot: 'a'.repeat(64), members: ['cp1=https://10.0.0.1:2380', 'cp2=https://10.0.0.2:2380'] }

function buildProgress(
  id: string,
  state: EtcdRestoreProgress['state'],
  more: Partial<EtcdRestoreProgress> = {},
): EtcdRestoreProgress {
  return { id, ...spec, state, ...more }
}

test('without an active restore there is no finding', () => {
  expect(checkUnfinishedRestore(new Map())).toEqual([])
})

test('hosts with and without data are listed', () => {
  const [finding] = checkUnfinishedRestore(
    new Map([
      ['cp1', buildProgress(first, 'data-restored')],
      ['cp2', buildProgress(first, 'begun')],
    ]),
  )
  expect(finding).toMatchObject({
    code: 'ETCD_RESTORE_UNFINISHED',
    severity: 'error',
    message: 'an etcd restore was started and is not finished: cp1 has its data, cp2 has started',
  })
})

test('the same restore resumes, and members with its data are known', () => {
  const restores = new Map([
    ['cp1', buildProgress(first, 'data-restored')],
    ['cp2', buildProgress(first, 'begun')],
  ])
  expect(findRestoreToResume(restores, spec)).toEqual({ id: first, ...spec })
  expect([...listHostsWithData(restores, first)]).toEqual(['cp1'])
  expect([...listHostsWithData(restores, second)]).toEqual([])
})

test.each([
  ['there is none', new Map<string, EtcdRestoreProgress>()],
  [
    'it was of another snapshot',
    new Map([['cp1', buildProgress(first, 'data-restored', { snapshot: 'b'.repeat(64) })]]),
  ],
  [
    'it was for other members',
    new Map([['cp1', buildProgress(first, 'data-restored', { members: spec.members.slice(1) })]]),
  ],
  [
    'there are two of them',
    new Map([
      ['cp1', buildProgress(first, 'data-restored')],
      ['cp2', buildProgress(second, 'data-restored')],
    ]),
  ],
])('every member receives its data again when %s', (_why, restores) => {
  expect(findRestoreToResume(restores, spec)).toBeUndefined()
})
