import { expect, test } from 'vitest'
import { mapWithConcurrency } from './map-with-concurrency.ts'

test('no more than so many are at work, and the answers are in order', async () => {
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

test('nothing to do is done', async () => {
  expect(await mapWithConcurrency(4, [], async () => 1)).toEqual([])
})
