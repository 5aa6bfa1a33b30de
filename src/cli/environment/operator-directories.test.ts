import { expect, test } from 'vitest'
import { findCacheDirectory, findConfigDirectory, findStateDirectory } from './operator-directories.ts'

const home = () => '/home/me'

test.each([
  ['linux', {}, '/home/me/.config'],
  ['darwin', {}, '/home/me/.config'],
  ['linux', { XDG_CONFIG_HOME: '/elsewhere' }, '/elsewhere'],
  ['linux', { XDG_CONFIG_HOME: '' }, '/home/me/.config'],
  ['linux', { XDG_CONFIG_HOME: 'relative' }, '/home/me/.config'],
] as const)('on %s with %j the configuration directory is %s', (platform, env, directory) => {
  expect(findConfigDirectory({ platform, env, home })).toBe(directory)
})

test('on Windows the configuration directory is APPDATA or its default', () => {
  const windows = { platform: 'win32', home: () => String.raw`C:\Users\me` } as const
  const roaming = String.raw`C:\Users\me\AppData\Roaming`
  expect(findConfigDirectory({ ...windows, env: { APPDATA: String.raw`D:\Data` } })).toBe(String.raw`D:\Data`)
  expect(findConfigDirectory({ ...windows, env: { XDG_CONFIG_HOME: '/x' } })).toBe(roaming)
})

test('a missing home directory is an error only if no variable replaces it', () => {
  const homeless = () => {
    throw new Error('no such user')
  }
  expect(findConfigDirectory({ platform: 'linux', env: { XDG_CONFIG_HOME: '/x' }, home: homeless })).toBe(
    '/x',
  )
  expect(() => findConfigDirectory({ platform: 'linux', env: {}, home: homeless })).toThrow(
    expect.objectContaining({ code: 'NO_HOME' }),
  )
})

test.each([
  ['linux', {}, '/home/me/.cache'],
  ['linux', { XDG_CACHE_HOME: '/elsewhere' }, '/elsewhere'],
  ['darwin', { XDG_CACHE_HOME: 'relative' }, '/home/me/.cache'],
] as const)('on %s with %j the cache directory is %s', (platform, env, directory) => {
  expect(findCacheDirectory({ platform, env, home })).toBe(directory)
})

test('on Windows the cache directory is LOCALAPPDATA or its default', () => {
  const windows = { platform: 'win32', home: () => String.raw`C:\Users\me` } as const
  expect(findCacheDirectory({ ...windows, env: { LOCALAPPDATA: String.raw`D:\Data` } })).toBe(
    String.raw`D:\Data`,
  )
  expect(findCacheDirectory({ ...windows, env: {} })).toBe(String.raw`C:\Users\me\AppData\Local`)
})

test.each([
  ['linux', {}, '/home/me/.local/state'],
  ['darwin', {}, '/home/me/.local/state'],
  ['linux', { XDG_STATE_HOME: '/elsewhere' }, '/elsewhere'],
  ['linux', { XDG_STATE_HOME: 'relative' }, '/home/me/.local/state'],
] as const)('on %s with %j the state directory is %s', (platform, env, directory) => {
  expect(findStateDirectory({ platform, env, home })).toBe(directory)
})

test('on Windows the state directory is LOCALAPPDATA or its default', () => {
  const windows = { platform: 'win32', home: () => String.raw`C:\Users\me` } as const
  expect(findStateDirectory({ ...windows, env: { LOCALAPPDATA: String.raw`D:\Data` } })).toBe(
    String.raw`D:\Data`,
  )
  expect(findStateDirectory({ ...windows, env: {} })).toBe(String.raw`C:\Users\me\AppData\Local`)
})
