import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import { createDeferredAbort } from './deferred-abort.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('while hosts are only read, an interrupt aborts at once', () => {
  const operator = new AbortController()
  using deferred = createDeferredAbort(operator.signal, 1000)
  operator.abort('enough')
  expect(deferred.signal.reason).toBe('enough')
})

test('while hosts are changed, an interrupt is deferred', () => {
  const operator = new AbortController()
  using deferred = createDeferredAbort(operator.signal, 1000)
  deferred.defer()
  operator.abort()
  vi.advanceTimersByTime(1_000_000)
  expect(deferred.signal.aborted).toBe(false)
})

test('a deadline aborts after the grace period', () => {
  const deadline = new AbortController()
  using deferred = createDeferredAbort(deadline.signal, 1000)
  deferred.defer()
  deadline.abort(new HyperkubeError('TIMEOUT', 'it is late'))
  vi.advanceTimersByTime(999)
  expect(deferred.signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(deferred.signal.reason).toBe(deadline.signal.reason)
})

test('an aborted signal stays aborted, and dispose clears the timer', () => {
  using aborted = createDeferredAbort(AbortSignal.abort('enough'), 1000)
  expect(aborted.signal.reason).toBe('enough')
  const deadline = new AbortController()
  const deferred = createDeferredAbort(deadline.signal, 1000)
  deferred.defer()
  deadline.abort(new HyperkubeError('TIMEOUT', 'it is late'))
  deferred[Symbol.dispose]()
  expect(vi.getTimerCount()).toBe(0)
})
