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

describe('what is tried again', () => {
  test.each([
    ['a crowd', refusal(429), true, true],
    ['a server without etcd', refusal(503), true, false],
    ['a server that took too long', refusal(504), true, false],
    ['a server that says when to come again', refusal(500, { retryAfterMs: 1000 }), true, false],
    ['a server that is broken', refusal(500), false, false],
    [
      'a server whose etcd elects a leader',
      refusal(500, { message: 'etcdserver: request timed out, possibly due to previous leader failure' }),
      true,
      false,
    ],
    ['a conflict', refusal(409), false, false],
    ['something that is not there', refusal(404), false, false],
    ['a refused connection', silence('unreachable', false), true, true],
    ['a connection that was cut', silence('cut', true), true, false],
    ['a silent server', silence('silent', true), true, false],
    ['a server that is not ours', silence('untrusted', false), false, false],
    ['an answer that does not end', silence('long', true), false, false],
  ])('%s', (_, failure, idempotent, other) => {
    expect([shouldRetry(true, failure), shouldRetry(false, failure)]).toEqual([idempotent, other])
  })

  test('not what a pod disruption budget says', () => {
    const causes = [{ reason: 'DisruptionBudget', message: 'needs 2 pods', field: undefined }]
    expect(shouldRetry(true, refusal(429, { causes, retryAfterMs: 10_000 }))).toBe(false)
  })
})

describe('what another server may do better', () => {
  test('a crowd is not sent on to the next door, unless the server is about to stop', () => {
    expect(isServerSpecific(refusal(429))).toBe(false)
    expect(isServerSpecific(refusal(429, { closing: true }))).toBe(true)
  })

  test('one that is not ours has done nothing, so that anything may be asked of the next', () => {
    expect(canTryNextServer(false, silence('untrusted', false))).toBe(true)
    expect(canTryNextServer(false, silence('unreachable', false))).toBe(true)
  })

  test('what may already be done is not done at another one', () => {
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

test('pauses double up to a limit, and lie in the upper half', () => {
  const backoff = { initial: 100, max: 1000 }
  expect([0, 1, 2, 3, 4, 99].map((round) => backoffDelay(round, backoff, 1))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ])
  expect(backoffDelay(1, backoff, 0)).toBe(100)
})
