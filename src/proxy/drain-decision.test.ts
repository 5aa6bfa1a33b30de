import { describe, expect, test } from 'vitest'
import { parting, type Situation, type Talk } from './drain-decision.ts'
import { usualTiming as timing } from './timing.ts'
import { type Observation, observe, unknownUpstream, type Upstream } from './upstreams.ts'

function after(kinds: readonly Exclude<Observation['kind'], 'ready'>[]): Upstream {
  const well = observe(unknownUpstream(0), { kind: 'ready' }, 0, 0)
  return kinds.reduce(
    (upstream, kind, index) => observe(upstream, { kind, reason: kind }, 1000 + index, 1010 + index),
    well,
  )
}

const draining = after(['draining', 'draining'])
const unready = after(['unready', 'unready'])
const dead = after(['silent', 'silent', 'silent'])
const busy: Talk = { spokenAt: 900, heardAt: 800, patience: 0 }

const other = observe(unknownUpstream(0), { kind: 'ready' }, 1500, 1500)

function at(upstream: Upstream, more: Partial<Situation> = {}): Situation {
  return { upstream, retiredSince: undefined, others: [other], ...more }
}

const calm: Talk = { spokenAt: 900, heardAt: 950, patience: 0 }
const waiting: Talk = { spokenAt: 1400, heardAt: 950, patience: 0 }

describe.each([
  ['drains', draining],
  ['is not ready', unready],
])('a server that %s', (_, upstream) => {
  test('loses calm connections, each in its time', () => {
    const quiet = 950 + timing.calm
    expect(parting(calm, at(upstream), quiet, timing)).toBe('end')
    expect(parting(calm, at(upstream), quiet - 1, timing)).toBe('stay')
    const patient = { ...calm, patience: 0.5 }
    expect(parting(patient, at(upstream), quiet, timing)).toBe('stay')
    expect(parting(patient, at(upstream), 1011 + timing.spread / 2, timing)).toBe('end')
  })

  test('keeps those on which something is under way', () => {
    expect(parting(waiting, at(upstream), 9000, timing)).toBe('stay')
  })
})

test('one that does not become ready loses in the end all of them, one that drains ends by itself', () => {
  const end = 1011 + timing.unreadyGrace
  expect(parting(waiting, at(unready), end - 1, timing)).toBe('stay')
  expect(parting(waiting, at(unready), end, timing)).toBe('cut')
  expect(parting({ ...waiting, patience: 0.5 }, at(unready), end, timing)).toBe('stay')
  expect(parting(waiting, at(draining), end + 100_000, timing)).toBe('stay')
})

describe('a server that is dead', () => {
  test('loses at once what has heard nothing since', () => {
    expect(parting(busy, at(dead), 1100, timing)).toBe('cut')
    expect(parting({ ...busy, spokenAt: -Infinity, heardAt: -Infinity }, at(dead), 1100, timing)).toBe('cut')
  })

  test('is not dead to those that still hear from it', () => {
    const lively = { ...busy, heardAt: 1005, spokenAt: 1006 }
    expect(parting(lively, at(dead), 1005 + timing.hurryWithin - 1, timing)).toBe('stay')
    expect(parting(lively, at(dead), 1005 + timing.hurryWithin, timing)).toBe('cut')
  })
})

test('one that is named no longer loses calm connections only', () => {
  const well = observe(unknownUpstream(0), { kind: 'ready' }, 0, 0)
  const retired = at(well, { retiredSince: 1000 })
  expect(parting({ spokenAt: 1, heardAt: 2, patience: 0 }, retired, 2 + timing.calm, timing)).toBe('end')
  expect(parting({ spokenAt: 3, heardAt: 2, patience: 0 }, retired, 200_000, timing)).toBe('stay')
})

test('nobody is sent to a server that has not answered since this one fell silent', () => {
  const stale = observe(unknownUpstream(0), { kind: 'ready' }, 999, 999)
  expect(parting(busy, at(dead, { others: [stale] }), 1100, timing)).toBe('stay')
  expect(parting(busy, at(dead, { others: [stale, draining, other] }), 1100, timing)).toBe('cut')
})
