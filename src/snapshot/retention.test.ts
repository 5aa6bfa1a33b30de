import { expect, test } from 'vitest'
import { assert, date, property } from 'fast-check'
import { fullName, nameOf, snapshotName, takenAt } from './name.ts'
import { superfluous } from './retention.ts'

const day = (number: number): Date => new Date(Date.UTC(2026, 10, number))
const stored = (name: string) => ({ name, size: 1, modified: day(30) })
const own = (number: number) => stored(nameOf('shop', day(number)))

test('a name says of which cluster and when, to the second', () => {
  expect(nameOf('shop', new Date('2026-11-15T12:34:56.789Z'))).toBe('shop-2026-11-15T12-34-56Z.snapshot')
  assert(
    property(date({ min: day(1), max: new Date('2099-01-01'), noInvalidDate: true }), (time) => {
      const name = nameOf('shop', time)
      expect(snapshotName.safeParse(name).success).toBe(true)
      expect(takenAt('shop', name)?.getTime()).toBe(Math.floor(time.getTime() / 1000) * 1000)
      expect(takenAt('shop-2', name)).toBeUndefined()
      expect(takenAt('sho', name)).toBeUndefined()
    }),
  )
  expect(takenAt('shop', 'shop-2026-13-15T12-34-56Z.snapshot')).toBeUndefined()
})

test('names that lead elsewhere are none', () => {
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
  expect([fullName('before'), fullName('before.snapshot')]).toEqual(['before.snapshot', 'before.snapshot'])
})

test('the oldest go, whatever order they come in', () => {
  const all = [own(3), own(1), own(2), own(4)]
  expect(superfluous(all, 'shop', 2)).toEqual([own(1), own(2)])
  expect(superfluous(all, 'shop', 4)).toEqual([])
  expect(superfluous(all, 'shop', 9)).toEqual([])
})

test('what a person has named, and what is of others, is neither counted nor removed', () => {
  const others = [
    stored('before-upgrade.snapshot'),
    stored(nameOf('shop-2', day(1))),
    stored(nameOf('bar', day(1))),
  ]
  expect(superfluous([...others, own(1), own(2)], 'shop', 1)).toEqual([own(1)])
})
