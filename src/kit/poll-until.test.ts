import { expect, test } from 'vitest'
import { until } from './poll-until.ts'

test('answers with the first thing seen', async () => {
  let looks = 0
  const seen = await until('three looks', async () => (++looks === 3 ? looks : undefined), {
    within: 1000,
    every: 1,
  })
  expect(seen).toBe(3)
})

test('a look that throws is "not yet", and the last reason is kept', async () => {
  const failing = until(
    'the impossible',
    async () => {
      throw new Error('still closed')
    },
    { within: 20, every: 1 },
  )
  await expect(failing).rejects.toMatchObject({
    code: 'TIMED_OUT',
    message: 'waited 20 ms for the impossible',
    cause: { message: 'still closed' },
  })
})

test('an abort ends the wait with its own reason', async () => {
  const controller = new AbortController()
  const waiting = until('nothing', async () => undefined, {
    within: 60_000,
    every: 1,
    signal: controller.signal,
  })
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('a look that hangs does not outlive the deadline', async () => {
  const hanging = until('an answer', async () => new Promise<never>(() => undefined), { within: 20 })
  await expect(hanging).rejects.toMatchObject({ code: 'TIMED_OUT' })
})
