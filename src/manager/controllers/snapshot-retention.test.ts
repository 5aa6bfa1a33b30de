import { array, assert, date, nat, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import {
  findExpiredSnapshots,
  formatScheduledSnapshotName,
  parseScheduledSnapshotTime,
} from './snapshot-schedule.ts'

const at = (text: string) => ({ name: text, takenAt: Date.parse(text) })
const names = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name)

test('the newest snapshot of each hour, day and week is kept', () => {
  const all = [
    ...['2026-11-02T00:00Z', '2026-11-04T00:00Z', '2026-11-09T00:00Z', '2026-11-14T12:00Z'],
    ...[
      '2026-11-15T06:00Z',
      '2026-11-15T18:00Z',
      '2026-11-16T06:00Z',
      '2026-11-16T07:00Z',
      '2026-11-16T07:30Z',
    ],
  ].map(at)
  expect(names(findExpiredSnapshots(all, { hourly: 2, daily: 0, weekly: 0 }))).toEqual(
    names(all.filter(({ name }) => !['2026-11-16T06:00Z', '2026-11-16T07:30Z'].includes(name))),
  )
  expect(names(findExpiredSnapshots(all, { hourly: 1, daily: 3, weekly: 3 }))).toEqual([
    ...[
      '2026-11-02T00:00Z',
      '2026-11-09T00:00Z',
      '2026-11-15T06:00Z',
      '2026-11-16T06:00Z',
      '2026-11-16T07:00Z',
    ],
  ])
  expect(names(findExpiredSnapshots(all, { hourly: 0, daily: 0, weekly: 0 }))).toEqual(
    names(all.slice(0, -1)),
  )
})

test('the newest snapshot is kept, the retention limits hold, and a second pass expires nothing', () => {
  const moments = array(
    date({ min: new Date('2026-01-01'), max: new Date('2026-12-31'), noInvalidDate: true }),
    { maxLength: 40 },
  )
  assert(
    property(moments, record({ hourly: nat(30), daily: nat(10), weekly: nat(6) }), (some, keep) => {
      const all = some.map((one, index) => ({ name: String(index), takenAt: one.getTime() }))
      const expired = findExpiredSnapshots(all, keep)
      const retained = all.filter((one) => !expired.includes(one))
      expect(retained.length).toBeLessThanOrEqual(Math.max(1, keep.hourly + keep.daily + keep.weekly))
      expect(Math.max(...retained.map(({ takenAt }) => takenAt))).toBe(
        Math.max(...all.map(({ takenAt }) => takenAt)),
      )
      expect(findExpiredSnapshots(retained, keep)).toEqual([])
    }),
  )
})

test('the name of a scheduled snapshot contains its due time to the second', () => {
  const moment = new Date('2026-11-16T08:00:00Z')
  expect(formatScheduledSnapshotName(moment)).toBe('etcd-2026-11-16T08-00-00Z.db')
  expect(parseScheduledSnapshotTime(formatScheduledSnapshotName(moment))).toBe(moment.getTime())
  expect(parseScheduledSnapshotTime('before-the-upgrade.db')).toBeUndefined()
})
