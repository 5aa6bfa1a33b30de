import { assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { canRunOn } from './windows-host.ts'

test.each([
  [17_763, 17_763, true],
  [17_763, 20_348, false],
  [20_348, 17_763, false],
  [20_348, 20_348, true],
  [20_348, 25_398, true],
  [20_348, 26_100, true],
  [25_398, 26_100, true],
  [26_100, 20_348, false],
  [26_100, 26_100, true],
  [17_763, 26_100, false],
  [20_348, 29_000, true],
  [26_100, 29_000, true],
])('an image of build %i runs on a host of build %i: %s', (image, host, expected) => {
  expect(canRunOn(image, host)).toBe(expected)
})

test('a host runs images of its own build, and no newer images', () => {
  const builds = integer({ min: 10_240, max: 40_000 })
  assert(
    property(builds, builds, (one, other) => {
      expect(canRunOn(one, one)).toBe(true)
      expect(one > other && canRunOn(one, other)).toBe(false)
    }),
  )
})
