import { expect, test } from 'vitest'
import { type Dealings, askNow, usualTime } from './probe-schedule.ts'
import { usualTiming } from './timing.ts'
import { observe, unknownUpstream } from './upstreams.ts'

const unknown = unknownUpstream(0)
const well = observe(unknown, { kind: 'ready' }, 0, 0)
const once = observe(well, { kind: 'silent', reason: '' }, 0, 0)
const unwell = observe(once, { kind: 'silent', reason: '' }, 0, 0)
const idle: Dealings = { lastAsked: 10_000, asking: 0, took: 5, waitingSince: undefined }

const [usual, hurried] = [{ within: 1000 }, { within: 800 }]

test.each([
  ['at once when it never was', unknown, { ...idle, lastAsked: undefined }, 0, usual],
  ['not before its time', well, idle, 10_999, undefined],
  ['every second', well, idle, 11_000, usual],
  ['also when a slow one has not answered', well, { ...idle, took: 300, asking: 1 }, 11_000, usual],
  ['soon after a first failure', once, idle, 10_100, hurried],
  ['not sooner than that', once, idle, 10_099, undefined],
  ['soon when a client has waited', well, { ...idle, asking: 1, waitingSince: 10_000 }, 10_100, hurried],
  ['soon when the last one takes its time', well, { ...idle, asking: 1 }, 10_300, hurried],
  ['not before it takes so long', well, { ...idle, asking: 1 }, 10_299, undefined],
  ['not yet when it has not waited long', well, { ...idle, waitingSince: 10_050 }, 10_149, undefined],
  ['no sooner than others once it is given up', unwell, { ...idle, waitingSince: 0 }, 10_900, undefined],
  ['no sooner when it is slow anyway', once, { ...idle, took: 300, waitingSince: 0 }, 10_900, undefined],
  ['not when too many are under way', well, { ...idle, asking: 5, waitingSince: 0 }, 20_000, undefined],
])('it is asked %s', (_, upstream, dealings, now, asked) => {
  expect(askNow(upstream, dealings, now, usualTiming)).toEqual(asked)
})

test('a slow answer is remembered for a while', () => {
  expect(usualTime(0, 5)).toBe(5)
  expect(usualTime(1000, 5)).toBe(800)
  expect(Array.from({ length: 20 }).reduce<number>((before) => usualTime(before, 5), 1000)).toBeLessThan(20)
})
