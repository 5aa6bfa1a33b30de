import { expect, test } from 'vitest'
import { type AddressSample, isStable, measureLongestGap, measureOutage } from './address-watch.ts'

/** Builds samples 100 ms apart: a letter is the pod that responded, a dot is a failure. */
function parseSamples(text: string): AddressSample[] {
  return text.split('').map((char, index) => ({ at: index * 100, pod: char === '.' ? undefined : char }))
}

test('an outage lasts until the first response after the last failure', () => {
  expect(measureOutage(parseSamples('aaa....bbb'), 250)).toBe(450)
  expect(measureOutage(parseSamples('aaa..b.bbb'), 250)).toBe(450)
  expect(measureOutage(parseSamples('aaabbb'), 250)).toBe(0)
  expect(measureOutage(parseSamples('aaa...'), 250)).toBeUndefined()
  expect(measureOutage(parseSamples('.aabb'), 100)).toBe(0)
})

test('the longest gap is between two successes', () => {
  expect(measureLongestGap(parseSamples('aa..b.b'), 0)).toBe(300)
  expect(measureLongestGap(parseSamples('a....bb'), 500)).toBe(100)
})

test('an address is stable after a time without failures', () => {
  expect(isStable(parseSamples('a.bbbb'), 550, 300)).toBe(true)
  expect(isStable(parseSamples('a.bbbb'), 550, 500)).toBe(false)
  expect(isStable(parseSamples('bb'), 150, 300)).toBe(false)
})
