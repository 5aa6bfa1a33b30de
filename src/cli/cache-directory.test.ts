import { expect, test } from 'vitest'
import { findCacheDirectory } from './cache-directory.ts'

const home = () => '/home/me'

test.each([
  ['linux', {}, '/home/me/.cache'],
  ['linux', { XDG_CACHE_HOME: '/elsewhere' }, '/elsewhere'],
  ['darwin', { XDG_CACHE_HOME: 'relative' }, '/home/me/.cache'],
] as const)('on %s with %j it is %s', (platform, env, directory) => {
  expect(findCacheDirectory({ platform, env, home })).toBe(directory)
})

test('on Windows it is where Windows says', () => {
  const windows = { platform: 'win32', home: () => String.raw`C:\Users\me` } as const
  expect(findCacheDirectory({ ...windows, env: { LOCALAPPDATA: String.raw`D:\Data` } })).toBe(
    String.raw`D:\Data`,
  )
  expect(findCacheDirectory({ ...windows, env: {} })).toBe(String.raw`C:\Users\me\AppData\Local`)
})
