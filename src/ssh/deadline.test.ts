import { expect, test } from 'vitest'
import { startDeadline, waitUnlessAborted } from './deadline.ts'

test('the first outcome wins, and later outcomes return false', async () => {
  const late: boolean[] = []
  const stop = new AbortController()
  const waiting = waitUnlessAborted<string>([stop.signal], ({ succeed, fail }) => {
    late.push(succeed('first'))
    late.push(succeed('second'))
    fail(new Error('third'))
  })
  expect(await waiting).toBe('first')
  expect(late).toEqual([true, false])
  stop.abort(new Error('fourth'))
})

test('an abort rejects the wait, and a previous abort prevents the start', async () => {
  const aborted = AbortSignal.abort(new Error('before'))
  let begun = false
  await expect(waitUnlessAborted([aborted], () => (begun = true))).rejects.toThrow('before')
  expect(begun).toBe(false)
  const stop = new AbortController()
  const waiting = waitUnlessAborted([new AbortController().signal, stop.signal], () => undefined)
  stop.abort('a word')
  await expect(waiting).rejects.toThrow('a word')
})

test('an exception at the start rejects the wait', async () => {
  const waiting = waitUnlessAborted([], () => {
    throw new Error('at once')
  })
  await expect(waiting).rejects.toThrow('at once')
})

test('an expired deadline aborts with its reason, and a cleared deadline does not abort', async () => {
  const { signal } = new AbortController()
  const short = startDeadline(signal, 5, () => new Error('too long'))
  await expect(waitUnlessAborted([short.signal], () => undefined)).rejects.toThrow('too long')
  const cleared = startDeadline(signal, 5, () => new Error('too long'))
  cleared.clear()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(cleared.signal.aborted).toBe(false)
})
