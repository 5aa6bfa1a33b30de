import { expect, test } from 'vitest'
import { HyperkubeError } from '../../../kit/errors.ts'
import {
  type RecoveryCandidate,
  formatLoss,
  findSnapshotLocation,
  pickBest,
  rankCandidates,
} from './candidate.ts'

const now = new Date('2026-11-15T15:07:00Z')
const member = (name: string, revision: number): RecoveryCandidate => ({
  kind: 'member',
  name,
  revision,
  keys: 10,
  taken: now,
})
const snapshot = (name: string, revision: number): RecoveryCandidate => ({
  kind: 'snapshot',
  name,
  revision,
  keys: 9,
  taken: new Date('2026-11-15T12:00:00Z'),
})

test('the highest revision comes first; at the same revision a member comes before a snapshot', () => {
  const all = [snapshot('old', 5), snapshot('same', 12), member('cp2', 8), member('cp1', 12)]
  expect(rankCandidates(all).map(({ name }) => name)).toEqual(['cp1', 'same', 'cp2', 'old'])
})

test('a snapshot that is newer than all surviving members is recommended', () => {
  expect(rankCandidates([member('cp1', 5), snapshot('newer', 7)])[0]?.name).toBe('newer')
})

test('the snapshot of a member is read from --to, an existing snapshot from --from', () => {
  const flags = { to: '/mnt/backup', from: 's3' }
  expect(findSnapshotLocation(member('cp1', 12), flags)).toBe('/mnt/backup')
  expect(findSnapshotLocation(member('cp1', 12), { from: 's3' })).toBeUndefined()
  expect(findSnapshotLocation(snapshot('old', 5), flags)).toBe('s3')
})

test('the loss of a candidate is the number of missing changes and the age of a snapshot', () => {
  expect(formatLoss(member('cp1', 12), 12, now)).toBe('no known change')
  expect(formatLoss(member('cp2', 11), 12, now)).toBe('1 change')
  expect(formatLoss(snapshot('old', 5), 12, now)).toBe('7 changes, and all changes of the last 3 h 07 min')
})

test('if a store cannot be read, only an operator or a member decides', () => {
  const unreachable = [new HyperkubeError('SNAPSHOT_STORE_UNREACHABLE', 'no response')]
  expect(pickBest([member('cp1', 12), snapshot('old', 5)], unreachable, false)?.name).toBe('cp1')
  expect(pickBest([snapshot('old', 5)], unreachable, true)?.name).toBe('old')
  expect(() => pickBest([snapshot('old', 5)], unreachable, false)).toThrow('no response')
  expect(() => pickBest([], unreachable, true)).toThrow('no response')
  expect(pickBest([snapshot('old', 5)], [], false)?.name).toBe('old')
  expect(pickBest([], [], false)).toBeUndefined()
})
