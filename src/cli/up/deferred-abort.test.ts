import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import { leash } from './deferred-abort.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('while hosts are only asked, an interruption ends it at once', () => {
  const person = new AbortController()
  using way = leash(person.signal, 1000)
  person.abort('enough')
  expect(way.signal.reason).toBe('enough')
})

test('once hosts are at work, they are waited for', () => {
  const person = new AbortController()
  using way = leash(person.signal, 1000)
  way.letGo()
  person.abort()
  vi.advanceTimersByTime(1_000_000)
  expect(way.signal.aborted).toBe(false)
})

test('but not for ever, when a time was set', () => {
  const clock = new AbortController()
  using way = leash(clock.signal, 1000)
  way.letGo()
  clock.abort(new HyperkubeError('TIMEOUT', 'it is late'))
  vi.advanceTimersByTime(999)
  expect(way.signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(way.signal.reason).toBe(clock.signal.reason)
})

test('what was over before it began stays over, and nothing is left behind', () => {
  using late = leash(AbortSignal.abort('enough'), 1000)
  expect(late.signal.reason).toBe('enough')
  const clock = new AbortController()
  const way = leash(clock.signal, 1000)
  way.letGo()
  clock.abort(new HyperkubeError('TIMEOUT', 'it is late'))
  way[Symbol.dispose]()
  expect(vi.getTimerCount()).toBe(0)
})
