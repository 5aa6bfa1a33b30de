import { expect, test } from 'vitest'
import { classifyError, decideProbe, parseReadyz, type ProbeState } from './readiness-probe.ts'
import { defaultProxyTiming } from './timing.ts'
import { applyObservation, createUpstream, updateResponseTime, type Upstream } from './upstreams.ts'

test.each([
  [200, 'ok', { kind: 'ready' }],
  [401, '', { kind: 'unclear', reason: 'rejects the probe: 401' }],
  [403, '{"kind":"Status"}', { kind: 'unclear', reason: 'rejects the probe: 403' }],
  [429, '', { kind: 'unready', reason: 'answers 429' }],
  [
    500,
    '[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n',
    { kind: 'draining', reason: 'answers 500: etcd, shutdown' },
  ],
  [500, '[-]etcd failed: reason withheld\n', { kind: 'unready', reason: 'answers 500: etcd' }],
])('the /readyz response %i %j is classified as %j', (status, text, meaning) => {
  expect(parseReadyz(status, text)).toEqual(meaning)
})

test.each([
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'refused'],
  ['EHOSTUNREACH', 'refused'],
  ['EPROTO', 'untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'untrusted'],
])('the connection error %s is classified as %s', (code, kind) => {
  expect(classifyError(Object.assign(new Error('no'), { code }))).toEqual({ kind, reason: 'no' })
})

const unknown = createUpstream(0)
const healthy = applyObservation(unknown, { kind: 'ready' }, 0, 0)
const once = applyObservation(healthy, { kind: 'silent', reason: '' }, 0, 0)
const unhealthy = applyObservation(once, { kind: 'silent', reason: '' }, 0, 0)
const idle: ProbeState = { lastProbeAt: 10_000, probesInFlight: 0, waitingSince: undefined }

const slow = applyObservation(unknown, { kind: 'ready' }, 0, 300)
const overloaded = applyObservation(unknown, { kind: 'ready' }, 0, 900)
const slowAndFailing = applyObservation(slow, { kind: 'silent', reason: '' }, 300, 300)

function failed(times: number): Upstream {
  return Array.from({ length: times }).reduce<Upstream>(
    (upstream) => applyObservation(upstream, { kind: 'silent', reason: '' }, 0, 0),
    healthy,
  )
}

const [usual, urgent] = [{ timeoutMs: 1000 }, { timeoutMs: 800 }]

test.each([
  [
    'an upstream without a previous probe is probed at once',
    unknown,
    { ...idle, lastProbeAt: undefined },
    0,
    usual,
  ],
  ['a healthy upstream is not probed before the interval has passed', healthy, idle, 10_999, undefined],
  ['a healthy upstream is probed every second', healthy, idle, 11_000, usual],
  [
    'a slow upstream is probed again while a probe is in flight',
    slow,
    { ...idle, probesInFlight: 1 },
    11_000,
    usual,
  ],
  ['a first failure causes an urgent probe after 100 ms', once, idle, 10_100, urgent],
  ['a first failure causes no urgent probe before 100 ms', once, idle, 10_099, undefined],
  [
    'a client that waits for 100 ms causes an urgent probe',
    healthy,
    { ...idle, probesInFlight: 1, waitingSince: 10_000 },
    10_100,
    urgent,
  ],
  [
    'a probe in flight for 300 ms causes an urgent probe',
    healthy,
    { ...idle, probesInFlight: 1 },
    10_300,
    urgent,
  ],
  [
    'a probe in flight for less than 300 ms causes no urgent probe',
    healthy,
    { ...idle, probesInFlight: 1 },
    10_299,
    undefined,
  ],
  [
    'a client that waits for less than 100 ms causes no urgent probe',
    healthy,
    { ...idle, waitingSince: 10_050 },
    10_149,
    undefined,
  ],
  ['an unhealthy upstream gets no urgent probe', unhealthy, { ...idle, waitingSince: 0 }, 10_900, undefined],
  [
    'an upstream with a slow response time gets no urgent probe',
    slowAndFailing,
    { ...idle, waitingSince: 0 },
    10_900,
    undefined,
  ],
  [
    'a probe of an overloaded upstream may take twice its response time',
    overloaded,
    idle,
    11_000,
    { timeoutMs: 1800 },
  ],
  ['each failure of an unhealthy upstream doubles the timeout', failed(3), idle, 11_000, { timeoutMs: 2000 }],
  ['the timeout of a probe is limited', failed(20), idle, 11_000, { timeoutMs: 4000 }],
  [
    'an upstream with five probes in flight is not probed',
    healthy,
    { ...idle, probesInFlight: 5, waitingSince: 0 },
    20_000,
    undefined,
  ],
])('%s', (_, upstream, state, now, expected) => {
  expect(decideProbe(upstream, state, now, defaultProxyTiming)).toEqual(expected)
})

test('a slow response raises the response time at once, and fast responses lower it slowly', () => {
  expect(updateResponseTime(0, 5)).toBe(5)
  expect(updateResponseTime(1000, 5)).toBe(800)
  expect(
    Array.from({ length: 20 }).reduce<number>((before) => updateResponseTime(before, 5), 1000),
  ).toBeLessThan(20)
})
