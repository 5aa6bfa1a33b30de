import { expect, test } from 'vitest'
import { type Candidate, lossOf, placeOf, ranked } from './candidate.ts'

const now = new Date('2026-11-15T15:07:00Z')
const member = (name: string, revision: number): Candidate => ({
  kind: 'member',
  name,
  revision,
  keys: 10,
  taken: now,
})
const snapshot = (name: string, revision: number): Candidate => ({
  kind: 'snapshot',
  name,
  revision,
  keys: 9,
  taken: new Date('2026-11-15T12:00:00Z'),
})

test('who knows most comes first, and of two a member rather than a file', () => {
  const all = [snapshot('old', 5), snapshot('same', 12), member('cp2', 8), member('cp1', 12)]
  expect(ranked(all).map(({ name }) => name)).toEqual(['cp1', 'same', 'cp2', 'old'])
})

test('a file that is ahead of all members that are left is advised', () => {
  expect(ranked([member('cp1', 5), snapshot('newer', 7)])[0]?.name).toBe('newer')
})

test('what was taken of a member is looked for where it was put', () => {
  const flags = { to: '/mnt/backup', from: 's3' }
  expect(placeOf(member('cp1', 12), flags)).toBe('/mnt/backup')
  expect(placeOf(member('cp1', 12), { from: 's3' })).toBeUndefined()
  expect(placeOf(snapshot('old', 5), flags)).toBe('s3')
})

test('what each would lose', () => {
  expect(lossOf(member('cp1', 12), 12, now)).toBe('nothing that is known here')
  expect(lossOf(member('cp2', 11), 12, now)).toBe('1 change')
  expect(lossOf(snapshot('old', 5), 12, now)).toBe('7 changes, and all since 3 h 07 min ago')
})
