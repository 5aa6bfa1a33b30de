import { expect, test } from 'vitest'
import { findConfigDirectory } from './config-directory.ts'

const home = () => '/home/me'

test.each([
  ['linux', {}, '/home/me/.config'],
  ['darwin', {}, '/home/me/.config'],
  ['linux', { XDG_CONFIG_HOME: '/elsewhere' }, '/elsewhere'],
  ['linux', { XDG_CONFIG_HOME: '' }, '/home/me/.config'],
  ['linux', { XDG_CONFIG_HOME: 'relative' }, '/home/me/.config'],
] as const)('on %s with %j it is %s', (platform, env, directory) => {
  expect(findConfigDirectory({ platform, env, home })).toBe(directory)
})

test('on Windows it is where Windows says', () => {
  const windows = { platform: 'win32', home: () => String.raw`C:\Users\me` } as const
  const roaming = String.raw`C:\Users\me\AppData\Roaming`
  expect(findConfigDirectory({ ...windows, env: { APPDATA: String.raw`D:\Data` } })).toBe(String.raw`D:\Data`)
  expect(findConfigDirectory({ ...windows, env: { XDG_CONFIG_HOME: '/x' } })).toBe(roaming)
})

test('without a home it is only missed when it is needed', () => {
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
