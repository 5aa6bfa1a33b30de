import { expect, test } from 'vitest'
import { checkClockSkew } from './clock-skew.ts'

const noon = 1_794_717_090_000

/**
 * Checks clocks that are ahead by the given seconds. Each host responds after the round trip, by default 40
 * ms.
 */
function checkSkew(offsets: Readonly<Record<string, number>>, roundTrip = 40) {
  return checkClockSkew(
    Object.entries(offsets).map(([host, seconds]) => ({
      host,
      sentAt: noon,
      receivedAt: noon + roundTrip,
      time: noon + roundTrip / 2 + seconds * 1000,
    })),
  ).map(({ host, severity, message }) => `${host ?? 'here'} ${severity}: ${message}`)
}

test('clocks that agree have no findings', () => {
  expect(checkSkew({ a: 0, b: 1.9, c: -1.9 })).toEqual([])
  expect(checkSkew({})).toEqual([])
})

test('a few seconds are a warning, half a minute is an error', () => {
  expect(checkSkew({ a: 0, b: 3, c: -31 })).toEqual([
    'b warning: its clock is 3.0 s ahead of the other clocks',
    'c error: its clock is 31.0 s behind the other clocks',
  ])
})

test('when all hosts agree it is our own that is wrong', () => {
  expect(checkSkew({ a: 45, b: 45.1, c: 45 })).toEqual([
    'here error: the clock of this machine is 45.0 s behind those of the hosts',
  ])
})

test('of two the one that is not ours is named, whichever way it is off', () => {
  expect(checkSkew({ a: 3600 })).toEqual(['a error: its clock is 1 h 00 min ahead of the other clocks'])
  expect(checkSkew({ a: -5 })).toEqual(['a warning: its clock is 5.0 s behind the other clocks'])
  expect(checkSkew({ a: 0, b: 40, c: 40 })).toEqual([
    'b error: its clock is 40.0 s ahead of the other clocks',
    'c error: its clock is 40.0 s ahead of the other clocks',
  ])
})

test('the round trip does not count as skew', () => {
  // With a round trip of four seconds, the host may have read its clock at any moment in between.
  expect(checkSkew({ a: 3.9 }, 4000)).toEqual([])
  expect(checkSkew({ a: 4.1 }, 4000)).toHaveLength(1)
})
