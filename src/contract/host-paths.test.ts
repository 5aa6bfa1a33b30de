import { expect, test } from 'vitest'
import { buildWindowsPaths, findWindowsBase } from './host-paths.ts'

test.each([String.raw`C:\hyperkube`, String.raw`D:\kubernetes files\programs`])(
  'the base directory %s is found from the path of the program',
  (base) => {
    expect(findWindowsBase(buildWindowsPaths(base).program('0.1.0'))).toBe(base)
  },
)

test('a program at another path has no base directory', () => {
  expect(findWindowsBase(String.raw`C:\Users\Administrator\hyperkube-setup\hyperkube.exe`)).toBeUndefined()
})
