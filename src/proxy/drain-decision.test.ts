import { describe, expect, test } from 'vitest'
import { decideDrain, type DrainInput, type ConnectionActivity } from './drain-decision.ts'
import { defaultProxyTiming as timing } from './timing.ts'
import { type UpstreamObservation, applyObservation, createUpstream, type Upstream } from './upstreams.ts'

function after(kinds: readonly Exclude<UpstreamObservation['kind'], 'ready'>[]): Upstream {
  const healthy = applyObservation(createUpstream(0), { kind: 'ready' }, 0, 0)
  return kinds.reduce(
    (upstream, kind, index) => applyObservation(upstream, { kind, reason: kind }, 1000 + index, 1010 + index),
    healthy,
  )
}

const draining = after(['draining', 'draining'])
const unready = after(['unready', 'unready'])
const dead = after(['silent', 'silent', 'silent'])
const busy: ConnectionActivity = { clientSentAt: 900, serverSentAt: 800, jitter: 0 }

const other = applyObservation(createUpstream(0), { kind: 'ready' }, 1500, 1500)

function at(upstream: Upstream, more: Partial<DrainInput> = {}): DrainInput {
  return { upstream, retiredSince: undefined, others: [other], ...more }
}

const idle: ConnectionActivity = { clientSentAt: 900, serverSentAt: 950, jitter: 0 }
const waiting: ConnectionActivity = { clientSentAt: 1400, serverSentAt: 950, jitter: 0 }

describe.each([
  ['drains', draining],
  ['is not ready', unready],
])('a server that %s', (_, upstream) => {
  test('loses idle connections, each in its time', () => {
    const quiet = 950 + timing.idleAfter
    expect(decideDrain(idle, at(upstream), quiet, timing)).toBe('end')
    expect(decideDrain(idle, at(upstream), quiet - 1, timing)).toBe('stay')
    const delayed = { ...idle, jitter: 0.5 }
    expect(decideDrain(delayed, at(upstream), quiet, timing)).toBe('stay')
    expect(decideDrain(delayed, at(upstream), 1011 + timing.drainSpread / 2, timing)).toBe('end')
  })

  test('keeps those on which something is under way', () => {
    expect(decideDrain(waiting, at(upstream), 9000, timing)).toBe('stay')
  })
})

test('one that does not become ready loses in the end all of them, one that drains ends by itself', () => {
  const end = 1011 + timing.unreadyGrace
  expect(decideDrain(waiting, at(unready), end - 1, timing)).toBe('stay')
  expect(decideDrain(waiting, at(unready), end, timing)).toBe('cut')
  expect(decideDrain({ ...waiting, jitter: 0.5 }, at(unready), end, timing)).toBe('stay')
  expect(decideDrain(waiting, at(draining), end + 100_000, timing)).toBe('stay')
})

describe('a server that is dead', () => {
  test('loses at once what has heard nothing since', () => {
    expect(decideDrain(busy, at(dead), 1100, timing)).toBe('cut')
    expect(
      decideDrain({ ...busy, clientSentAt: -Infinity, serverSentAt: -Infinity }, at(dead), 1100, timing),
    ).toBe('cut')
  })

  test('is not dead to those that still hear from it', () => {
    const active = { ...busy, serverSentAt: 1005, clientSentAt: 1006 }
    expect(decideDrain(active, at(dead), 1005 + timing.urgentProbeTimeout - 1, timing)).toBe('stay')
    expect(decideDrain(active, at(dead), 1005 + timing.urgentProbeTimeout, timing)).toBe('cut')
  })
})

test('one that is no longer a member loses idle connections only', () => {
  const healthy = applyObservation(createUpstream(0), { kind: 'ready' }, 0, 0)
  const retired = at(healthy, { retiredSince: 1000 })
  expect(
    decideDrain({ clientSentAt: 1, serverSentAt: 2, jitter: 0 }, retired, 2 + timing.idleAfter, timing),
  ).toBe('end')
  expect(decideDrain({ clientSentAt: 3, serverSentAt: 2, jitter: 0 }, retired, 200_000, timing)).toBe('stay')
})

test('no connection moves to a server that has not responded since this one failed', () => {
  const stale = applyObservation(createUpstream(0), { kind: 'ready' }, 999, 999)
  expect(decideDrain(busy, at(dead, { others: [stale] }), 1100, timing)).toBe('stay')
  expect(decideDrain(busy, at(dead, { others: [stale, draining, other] }), 1100, timing)).toBe('cut')
})
