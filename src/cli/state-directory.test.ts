import { expect, test } from 'vitest'
import { findStateDirectory } from './state-directory.ts'

const home = () => '/home/me'

test.each([
  ['linux', {}, '/home/me/.local/state'],
  ['darwin', {}, '/home/me/.local/state'],
  ['linux', { XDG_STATE_HOME: '/elsewhere' }, '/elsewhere'],
  ['linux', { XDG_STATE_HOME: 'relative' }, '/home/me/.local/state'],
] as const)('on %s with %j it is %s', (platform, env, directory) => {
  expect(findStateDirectory({ platform, env, home })).toBe(directory)
})

test('on Windows it is where Windows says', () => {
  const windows = { platform: 'win32', home: () => String.raw`C:\Users\me` } as const
  expect(findStateDirectory({ ...windows, env: { LOCALAPPDATA: String.raw`D:\Data` } })).toBe(
    String.raw`D:\Data`,
  )
  expect(findStateDirectory({ ...windows, env: {} })).toBe(String.raw`C:\Users\me\AppData\Local`)
})
