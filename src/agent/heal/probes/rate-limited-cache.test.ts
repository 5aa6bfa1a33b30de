import { expect, test } from 'vitest'
import { Kept } from './rate-limited-cache.ts'

test('an answer is good for a minute, and a long one for longer', async () => {
  let [now, asked] = [0, 0]
  let text = 'short'
  const kept = new Kept<number>(() => now)
  const get = async (): Promise<number> =>
    kept.get(
      'key',
      async () => {
        asked += 1
        return text
      },
      (answer) => answer.length,
    )
  expect(await get()).toBe(5)
  text = 'x'.repeat(1_200_000)
  now = 59_999
  expect(await get()).toBe(5)
  now = 60_000
  expect(await get()).toBe(1_200_000)
  text = ''
  now += 299_999
  expect(await get()).toBe(1_200_000)
  now += 1
  expect(await get()).toBe(0)
  expect(asked).toBe(3)
})

test('when nobody answers, the old answer has to do; and where there is none, that is said', async () => {
  let now = 0
  const kept = new Kept<string>(() => now)
  const fails = async (): Promise<string> => {
    throw new Error('nobody')
  }
  await expect(kept.get('key', fails, String)).rejects.toThrow('nobody')
  await kept.get('key', async () => 'old', String)
  now = 100_000
  expect(await kept.get('key', fails, String)).toBe('old')
})
