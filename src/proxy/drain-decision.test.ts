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
  ['is draining', draining],
  ['is not ready', unready],
])('a server that %s', (_, upstream) => {
  test('loses idle connections, each after its own jitter', () => {
    const quiet = 950 + timing.idleAfter
    expect(decideDrain(idle, at(upstream), quiet, timing)).toBe('end')
    expect(decideDrain(idle, at(upstream), quiet - 1, timing)).toBe('stay')
    const delayed = { ...idle, jitter: 0.5 }
    expect(decideDrain(delayed, at(upstream), quiet, timing)).toBe('stay')
    expect(decideDrain(delayed, at(upstream), 1011 + timing.drainSpread / 2, timing)).toBe('end')
  })

  test('keeps connections with a request in flight', () => {
    expect(decideDrain(waiting, at(upstream), 9000, timing)).toBe('stay')
  })
})

test('connections with requests in flight are cut after the unready grace, but never from a draining server', () => {
  const end = 1011 + timing.unreadyGrace
  expect(decideDrain(waiting, at(unready), end - 1, timing)).toBe('stay')
  expect(decideDrain(waiting, at(unready), end, timing)).toBe('cut')
  expect(decideDrain({ ...waiting, jitter: 0.5 }, at(unready), end, timing)).toBe('stay')
  expect(decideDrain(waiting, at(draining), end + 100_000, timing)).toBe('stay')
})

describe('a dead server', () => {
  test('loses at once all connections that received no data since the failure', () => {
    expect(decideDrain(busy, at(dead), 1100, timing)).toBe('cut')
    expect(
      decideDrain({ ...busy, clientSentAt: -Infinity, serverSentAt: -Infinity }, at(dead), 1100, timing),
    ).toBe('cut')
  })

  test('keeps connections that received data within the probe timeout', () => {
    const active = { ...busy, serverSentAt: 1005, clientSentAt: 1006 }
    expect(decideDrain(active, at(dead), 1005 + timing.urgentProbeTimeout - 1, timing)).toBe('stay')
    expect(decideDrain(active, at(dead), 1005 + timing.urgentProbeTimeout, timing)).toBe('cut')
  })
})

test('while the other servers respond slowly, a silent server keeps its connections for longer', () => {
  const slow = applyObservation(createUpstream(0), { kind: 'ready' }, 1100, 1600)
  const input = at(dead, { others: [slow] })
  expect(decideDrain(busy, input, 1000 + 4 * 500 - 1, timing)).toBe('stay')
  expect(decideDrain(busy, input, 1000 + 4 * 500, timing)).toBe('cut')
  expect(decideDrain(busy, at(dead, { others: [slow, other] }), 1600, timing)).toBe('cut')
})

test('a server that is no longer a member loses only idle connections', () => {
  const healthy = applyObservation(createUpstream(0), { kind: 'ready' }, 0, 0)
  const retired = at(healthy, { retiredSince: 1000 })
  expect(
    decideDrain({ clientSentAt: 1, serverSentAt: 2, jitter: 0 }, retired, 2 + timing.idleAfter, timing),
  ).toBe('end')
  expect(decideDrain({ clientSentAt: 3, serverSentAt: 2, jitter: 0 }, retired, 200_000, timing)).toBe('stay')
})

test('no connection is cut unless another server has responded since the failure', () => {
  const stale = applyObservation(createUpstream(0), { kind: 'ready' }, 999, 999)
  expect(decideDrain(busy, at(dead, { others: [stale] }), 1100, timing)).toBe('stay')
  expect(decideDrain(busy, at(dead, { others: [stale, draining, other] }), 1100, timing)).toBe('cut')
})
