import { expect, test } from 'vitest'
import { RateLimitedCache } from './probe-api.ts'

test('a value is cached for a minute, and a large one for five minutes', async () => {
  let [now, loads] = [0, 0]
  let text = 'short'
  const cache = new RateLimitedCache<number>(() => now)
  const get = async (): Promise<number> =>
    cache.get(
      'key',
      async () => {
        loads += 1
        return text
      },
      (loaded) => loaded.length,
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
  expect(loads).toBe(3)
})

test('if loading fails, the old value is returned; without one the error is thrown', async () => {
  let now = 0
  const cache = new RateLimitedCache<string>(() => now)
  const fails = async (): Promise<string> => {
    throw new Error('unreachable')
  }
  await expect(cache.get('key', fails, String)).rejects.toThrow('unreachable')
  await cache.get('key', async () => 'old', String)
  now = 100_000
  expect(await cache.get('key', fails, String)).toBe('old')
  // The next try comes a minute later.
  const load = async (): Promise<string> => 'new'
  now = 159_999
  expect(await cache.get('key', load, String)).toBe('old')
  now = 160_000
  expect(await cache.get('key', load, String)).toBe('new')
})
