import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { formatError } from './errors.ts'
import { createSemaphore, mapWithConcurrency, settleAll } from './concurrency.ts'

test('a semaphore starts waiting work in order when earlier work succeeds or fails', async () => {
  const semaphore = createSemaphore(2)
  const [started, ends]: [number[], PromiseWithResolvers<number>[]] = [[], []]
  const works = [0, 1, 2, 3].map(async (index) =>
    semaphore(async () => {
      started.push(index)
      ends[index] = Promise.withResolvers()
      return ends[index].promise
    }),
  )
  const results = Promise.allSettled(works)
  expect(started).toEqual([0, 1])
  ends[1]?.reject(new Error('no'))
  await expect(works[1]).rejects.toThrow('no')
  expect(started).toEqual([0, 1, 2])
  ends[0]?.resolve(0)
  await works[0]
  await Promise.resolve()
  expect(started).toEqual([0, 1, 2, 3])
  ends[2]?.resolve(2)
  ends[3]?.resolve(3)
  expect((await results).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
})

test('mapWithConcurrency limits the running items and returns results in order', async () => {
  let [now, most] = [0, 0]
  const results = await mapWithConcurrency(
    4,
    Array.from({ length: 20 }, (_, index) => index),
    async (item) => {
      most = Math.max(most, ++now)
      for (let turns = item % 5; turns >= 0; turns--) await Promise.resolve()
      now--
      return item * 2
    },
  )
  expect(most).toBe(4)
  expect(results).toEqual(Array.from({ length: 20 }, (_, index) => index * 2))
})

test('a failure stops no other item, and all failures are reported', async () => {
  const visited: number[] = []
  const work = mapWithConcurrency(2, [1, 2, 3, 4, 5], async (item) => {
    visited.push(item)
    if (item % 2 === 1) throw new Error(`odd ${item}`)
  })
  await expect(work).rejects.toMatchObject({
    errors: [{ message: 'odd 1' }, { message: 'odd 3' }, { message: 'odd 5' }],
  })
  expect(visited).toEqual([1, 2, 3, 4, 5])
})

test('mapWithConcurrency of no items returns an empty list', async () => {
  expect(await mapWithConcurrency(4, [], async () => 1)).toEqual([])
})

test('settleAll returns results in order', async () => {
  expect(await settleAll([sleep(2, 'slow'), sleep(1, 'fast')])).toEqual(['slow', 'fast'])
})

test('settleAll rejects only after all promises have settled', async () => {
  let ended = false
  const slow = sleep(5).then(() => (ended = true))
  await expect(settleAll([Promise.reject(new Error('early')), slow])).rejects.toThrow('early')
  expect(ended).toBe(true)
})

test('settleAll reports all different reasons', async () => {
  const failing = settleAll([Promise.reject(new Error('one')), Promise.reject(new Error('two'))])
  const error: unknown = await failing.catch((reason: unknown) => reason)
  expect(formatError(error)).toBe('2 of 2 failed\n  one\n  two')
})

test('settleAll reports the same reason once', async () => {
  const reason = new Error('interrupted')
  await expect(settleAll([Promise.reject(reason), Promise.reject(reason)])).rejects.toBe(reason)
})
