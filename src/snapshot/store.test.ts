import { assert, date, property } from 'fast-check'
import { expect, test } from 'vitest'
import {
  addSnapshotExtension,
  buildSnapshotName,
  parseSnapshotTime,
  selectExpiredSnapshots,
  snapshotName,
} from './store.ts'

const day = (number: number): Date => new Date(Date.UTC(2026, 10, number))
const buildStored = (name: string) => ({ name, size: 1, modified: day(30) })
const buildOwn = (number: number) => buildStored(buildSnapshotName('shop', day(number)))

test('a snapshot name contains the cluster and the time in seconds', () => {
  expect(buildSnapshotName('shop', new Date('2026-11-15T12:34:56.789Z'))).toBe(
    'shop-2026-11-15T12-34-56Z.snapshot',
  )
  assert(
    property(date({ min: day(1), max: new Date('2099-01-01'), noInvalidDate: true }), (time) => {
      const name = buildSnapshotName('shop', time)
      expect(snapshotName.safeParse(name).success).toBe(true)
      expect(parseSnapshotTime('shop', name)?.getTime()).toBe(Math.floor(time.getTime() / 1000) * 1000)
      expect(parseSnapshotTime('shop-2', name)).toBeUndefined()
      expect(parseSnapshotTime('sho', name)).toBeUndefined()
    }),
  )
  expect(parseSnapshotTime('shop', 'shop-2026-13-15T12-34-56Z.snapshot')).toBeUndefined()
})

test('names that could leave the directory are invalid', () => {
  for (const name of [
    '../x.snapshot',
    'a/b.snapshot',
    '.snapshot',
    '-x.snapshot',
    'x.snapshot\n',
    'x y.snapshot',
  ]) {
    expect(snapshotName.safeParse(name).success, name).toBe(false)
  }
  expect([addSnapshotExtension('before'), addSnapshotExtension('before.snapshot')]).toEqual([
    'before.snapshot',
    'before.snapshot',
  ])
})

test('the oldest snapshots expire in any input order', () => {
  const all = [buildOwn(3), buildOwn(1), buildOwn(2), buildOwn(4)]
  expect(selectExpiredSnapshots(all, 'shop', 2)).toEqual([buildOwn(1), buildOwn(2)])
  expect(selectExpiredSnapshots(all, 'shop', 4)).toEqual([])
  expect(selectExpiredSnapshots(all, 'shop', 9)).toEqual([])
})

test('snapshots with custom names and of other clusters are neither counted nor removed', () => {
  const others = [
    buildStored('before-upgrade.snapshot'),
    buildStored(buildSnapshotName('shop-2', day(1))),
    buildStored(buildSnapshotName('bar', day(1))),
  ]
  expect(selectExpiredSnapshots([...others, buildOwn(1), buildOwn(2)], 'shop', 1)).toEqual([buildOwn(1)])
})
