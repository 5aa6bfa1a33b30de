import { expect, test } from 'vitest'
import { pollUntil } from './poll.ts'

test('pollUntil returns the first defined value', async () => {
  let checks = 0
  const value = await pollUntil('three looks', async () => (++checks === 3 ? checks : undefined), {
    timeoutMs: 1000,
    intervalMs: 1,
  })
  expect(value).toBe(3)
})

test('a check that throws is retried, and its last error is the cause of the timeout', async () => {
  const failing = pollUntil(
    'the impossible',
    async () => {
      throw new Error('still closed')
    },
    { timeoutMs: 20, intervalMs: 1 },
  )
  await expect(failing).rejects.toMatchObject({
    code: 'TIMED_OUT',
    message: 'waited 20 ms for the impossible',
    cause: { message: 'still closed' },
  })
})

test('an abort ends pollUntil with its own reason', async () => {
  const controller = new AbortController()
  const waiting = pollUntil('nothing', async () => undefined, {
    timeoutMs: 60_000,
    intervalMs: 1,
    signal: controller.signal,
  })
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('a check that hangs does not delay the timeout', async () => {
  const hanging = pollUntil('an answer', async () => new Promise<never>(() => undefined), { timeoutMs: 20 })
  await expect(hanging).rejects.toMatchObject({ code: 'TIMED_OUT' })
})
