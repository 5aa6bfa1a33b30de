import { describe, expect, test } from 'vitest'
import type { RequestErrorReason } from '../kit/https-request.ts'
import {
  isServerSpecific,
  type KubeRequestFailure,
  canTryNextServer,
  backoffDelay,
  parseRetryAfter,
  shouldRetry,
} from './retry-policy.ts'

function refusal(
  status: number,
  more: Partial<Extract<KubeRequestFailure, { kind: 'refused' }>> = {},
): KubeRequestFailure {
  return {
    kind: 'refused',
    status,
    retryAfterMs: undefined,
    closing: false,
    causes: [],
    message: '',
    ...more,
  }
}

function silence(why: RequestErrorReason, sent: boolean): KubeRequestFailure {
  return { kind: 'unanswered', reason: why, sent }
}

describe('retries', () => {
  test.each([
    ['a 429 response is retried for all requests', refusal(429), true, true],
    ['a 503 response is retried for idempotent requests', refusal(503), true, false],
    ['a 504 response is retried for idempotent requests', refusal(504), true, false],
    [
      'a 500 response with Retry-After is retried for idempotent requests',
      refusal(500, { retryAfterMs: 1000 }),
      true,
      false,
    ],
    ['a 500 response is not retried', refusal(500), false, false],
    [
      'a 500 response during an etcd leader election is retried for idempotent requests',
      refusal(500, { message: 'etcdserver: request timed out, possibly due to previous leader failure' }),
      true,
      false,
    ],
    ['a conflict is not retried', refusal(409), false, false],
    ['a 404 response is not retried', refusal(404), false, false],
    ['a refused connection is retried for all requests', silence('unreachable', false), true, true],
    ['a cut connection is retried for idempotent requests', silence('cut', true), true, false],
    ['a missing response is retried for idempotent requests', silence('silent', true), true, false],
    ['an untrusted server is not retried', silence('untrusted', false), false, false],
    ['a response above the size limit is not retried', silence('long', true), false, false],
  ])('%s', (_, failure, idempotent, other) => {
    expect([shouldRetry(true, failure), shouldRetry(false, failure)]).toEqual([idempotent, other])
  })

  test('a refusal of a pod disruption budget is not retried', () => {
    const causes = [{ reason: 'DisruptionBudget', message: 'needs 2 pods', field: undefined }]
    expect(shouldRetry(true, refusal(429, { causes, retryAfterMs: 10_000 }))).toBe(false)
  })
})

describe('fallback to the next server', () => {
  test('a 429 response is specific to its server only if the server closes the connection', () => {
    expect(isServerSpecific(refusal(429))).toBe(false)
    expect(isServerSpecific(refusal(429, { closing: true }))).toBe(true)
  })

  test('any request may go to the next server after an untrusted or unreachable server', () => {
    expect(canTryNextServer(false, silence('untrusted', false))).toBe(true)
    expect(canTryNextServer(false, silence('unreachable', false))).toBe(true)
  })

  test('only an idempotent request may go to the next server after a cut connection', () => {
    expect(canTryNextServer(false, silence('cut', true))).toBe(false)
    expect(canTryNextServer(true, silence('cut', true))).toBe(true)
  })
})

test('Retry-After is in seconds or a date, and neither negative nor endless', () => {
  const now = Date.parse('2026-11-15T12:00:00Z')
  expect(parseRetryAfter('5', now)).toBe(5000)
  expect(parseRetryAfter(' 0 ', now)).toBe(0)
  expect(parseRetryAfter('Sun, 15 Nov 2026 12:00:07 GMT', now)).toBe(7000)
  expect(parseRetryAfter('Sun, 15 Nov 2026 11:00:00 GMT', now)).toBe(0)
  expect(parseRetryAfter('86400', now)).toBe(60_000)
  expect(parseRetryAfter('soon', now)).toBeUndefined()
  expect(parseRetryAfter(undefined, now)).toBeUndefined()
})

test('backoff delays double up to a limit, with jitter in the upper half', () => {
  const backoff = { initial: 100, max: 1000 }
  expect([0, 1, 2, 3, 4, 99].map((round) => backoffDelay(round, backoff, 1))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ])
  expect(backoffDelay(1, backoff, 0)).toBe(100)
})
