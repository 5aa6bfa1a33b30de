import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { formatError } from './errors.ts'
import { settleAll } from './settle-all.ts'

test('answers in order', async () => {
  expect(await settleAll([sleep(2, 'slow'), sleep(1, 'fast')])).toEqual(['slow', 'fast'])
})

test('fails only when all have ended', async () => {
  let ended = false
  const slow = sleep(5).then(() => (ended = true))
  await expect(settleAll([Promise.reject(new Error('early')), slow])).rejects.toThrow('early')
  expect(ended).toBe(true)
})

test('several reasons are all reported', async () => {
  const failing = settleAll([Promise.reject(new Error('one')), Promise.reject(new Error('two'))])
  const error: unknown = await failing.catch((reason: unknown) => reason)
  expect(formatError(error)).toBe('2 of 2 failed\n  one\n  two')
})

test('one reason for several is reported once', async () => {
  const reason = new Error('interrupted')
  await expect(settleAll([Promise.reject(reason), Promise.reject(reason)])).rejects.toBe(reason)
})
