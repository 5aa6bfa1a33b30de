import { expect, test } from 'vitest'
import { judgeClocks } from './clock-skew.ts'

const noon = 1_794_717_090_000

/** Clocks that are so many seconds ahead, each answering after 40 ms. */
function found(ahead: Readonly<Record<string, number>>, roundTrip = 40) {
  return judgeClocks(
    Object.entries(ahead).map(([host, seconds]) => ({
      host,
      asked: noon,
      answered: noon + roundTrip,
      time: noon + roundTrip / 2 + seconds * 1000,
    })),
  ).map(({ host, severity, message }) => `${host ?? 'here'} ${severity}: ${message}`)
}

test('clocks that agree are not spoken of', () => {
  expect(found({ a: 0, b: 1.9, c: -1.9 })).toEqual([])
  expect(found({})).toEqual([])
})

test('a few seconds are a warning, half a minute is an error', () => {
  expect(found({ a: 0, b: 3, c: -31 })).toEqual([
    'b warning: its clock is 3.0 s ahead of the other clocks',
    'c error: its clock is 31.0 s behind the other clocks',
  ])
})

test('when all hosts agree it is our own that is wrong', () => {
  expect(found({ a: 45, b: 45.1, c: 45 })).toEqual([
    'here error: the clock of this machine is 45.0 s behind those of the hosts',
  ])
})

test('of two the one that is not ours is named, whichever way it is off', () => {
  expect(found({ a: 3600 })).toEqual(['a error: its clock is 1 h 00 min ahead of the other clocks'])
  expect(found({ a: -5 })).toEqual(['a warning: its clock is 5.0 s behind the other clocks'])
  expect(found({ a: 0, b: 40, c: 40 })).toEqual([
    'b error: its clock is 40.0 s ahead of the other clocks',
    'c error: its clock is 40.0 s ahead of the other clocks',
  ])
})

test('the time of the way is nobody’s fault', () => {
  // Four seconds of way: the clock may have been read at any moment of them.
  expect(found({ a: 3.9 }, 4000)).toEqual([])
  expect(found({ a: 4.1 }, 4000)).toHaveLength(1)
})
