import { expect, test } from 'vitest'
import {
  classifyError,
  decideProbe,
  parseReadyz,
  type ProbeState,
  updateResponseTime,
} from './readiness-probe.ts'
import { defaultProxyTiming } from './timing.ts'
import { applyObservation, createUpstream } from './upstreams.ts'

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
])('an answer of %i %j', (status, text, meaning) => {
  expect(parseReadyz(status, text)).toEqual(meaning)
})

test.each([
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'refused'],
  ['EHOSTUNREACH', 'refused'],
  ['EPROTO', 'untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'untrusted'],
])('%s', (code, kind) => {
  expect(classifyError(Object.assign(new Error('no'), { code }))).toEqual({ kind, reason: 'no' })
})

const unknown = createUpstream(0)
const healthy = applyObservation(unknown, { kind: 'ready' }, 0, 0)
const once = applyObservation(healthy, { kind: 'silent', reason: '' }, 0, 0)
const unhealthy = applyObservation(once, { kind: 'silent', reason: '' }, 0, 0)
const idle: ProbeState = { lastProbeAt: 10_000, probesInFlight: 0, responseTime: 5, waitingSince: undefined }

const [usual, urgent] = [{ timeoutMs: 1000 }, { timeoutMs: 800 }]

test.each([
  ['at once when it never was', unknown, { ...idle, lastProbeAt: undefined }, 0, usual],
  ['not before its time', healthy, idle, 10_999, undefined],
  ['every second', healthy, idle, 11_000, usual],
  [
    'also when a slow one has not answered',
    healthy,
    { ...idle, responseTime: 300, probesInFlight: 1 },
    11_000,
    usual,
  ],
  ['soon after a first failure', once, idle, 10_100, urgent],
  ['not sooner than that', once, idle, 10_099, undefined],
  [
    'soon when a client has waited',
    healthy,
    { ...idle, probesInFlight: 1, waitingSince: 10_000 },
    10_100,
    urgent,
  ],
  ['soon when the last one takes its time', healthy, { ...idle, probesInFlight: 1 }, 10_300, urgent],
  ['not before it takes so long', healthy, { ...idle, probesInFlight: 1 }, 10_299, undefined],
  ['not yet when it has not waited long', healthy, { ...idle, waitingSince: 10_050 }, 10_149, undefined],
  ['no sooner than others once it is given up', unhealthy, { ...idle, waitingSince: 0 }, 10_900, undefined],
  [
    'no sooner when it is slow anyway',
    once,
    { ...idle, responseTime: 300, waitingSince: 0 },
    10_900,
    undefined,
  ],
  [
    'not when too many are under way',
    healthy,
    { ...idle, probesInFlight: 5, waitingSince: 0 },
    20_000,
    undefined,
  ],
])('it is asked %s', (_, upstream, state, now, expected) => {
  expect(decideProbe(upstream, state, now, defaultProxyTiming)).toEqual(expected)
})

test('a slow answer is remembered for a while', () => {
  expect(updateResponseTime(0, 5)).toBe(5)
  expect(updateResponseTime(1000, 5)).toBe(800)
  expect(
    Array.from({ length: 20 }).reduce<number>((before) => updateResponseTime(before, 5), 1000),
  ).toBeLessThan(20)
})
