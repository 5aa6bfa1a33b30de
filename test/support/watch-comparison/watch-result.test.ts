import { expect, test } from 'vitest'
import { findWatchErrors, type MadeChange, type ReportedChange } from './watch-result.ts'

const put = (uid: string, version: number): MadeChange => ({ type: 'put', name: 'a', uid, version })
const remove = (uid: string, version: number): MadeChange => ({ type: 'remove', name: 'a', uid, version })
const report = (type: ReportedChange['type'], uid: string, version: number): ReportedChange => ({
  type,
  name: 'a',
  uid,
  version,
})

test('a later change of the same object counts, and so does an object that no report needs to mention', () => {
  const made = [
    put('1', 1),
    put('1', 2),
    remove('1', 2),
    put('2', 3),
    remove('2', 3),
    put('3', 4),
    put('3', 5),
  ]
  const reported = [report('added', '1', 1), report('deleted', '1', 2), report('added', '3', 5)]
  expect(findWatchErrors(made, reported)).toEqual({ missed: 0, wrong: 0 })
})

test('missed changes and deletions are counted', () => {
  const made = [put('1', 1), remove('1', 1), put('2', 2), put('2', 3)]
  expect(findWatchErrors(made, [report('added', '1', 1)])).toEqual({ missed: 3, wrong: 0 })
})

test('a known object that is added, an unknown one that changes, and an old version are wrong', () => {
  const reported = [
    report('added', '1', 1),
    report('added', '1', 1),
    report('modified', '1', 1),
    report('modified', '2', 5),
    report('deleted', '3', 6),
  ]
  expect(findWatchErrors([], reported).wrong).toBe(4)
})
