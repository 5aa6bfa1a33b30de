import { expect, test } from 'vitest'
import { createSemaphore } from './semaphore.ts'

test('no more are let in than there is room for, in their order, however the others end', async () => {
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
