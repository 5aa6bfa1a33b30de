import { expect, test } from 'vitest'
import { importsOf, isOfWindows, librariesNamed } from './libraries.ts'
import { standIn, standInName } from './prng-library.ts'

test('names of libraries are found among texts without an end, and others told as they are', () => {
  const texts =
    'm->curg=(unknown)ntdll.dllpsapi.dllFindCloseSocketWws2_32.dllowner diedx-evil.dll bcryptprimitives.dll not found'
  expect(librariesNamed(Buffer.from(texts))).toEqual({
    known: ['bcryptprimitives.dll', 'ntdll.dll', 'psapi.dll', 'ws2_32.dll'],
    unknown: ['diedx-evil.dll'],
  })
  expect(['kernel32.dll', 'api-ms-win-core-file-l2-1-4.dll', 'evil.dll'].map(isOfWindows)).toEqual([
    true,
    true,
    false,
  ])
})

test('the imports of a program are those of its table', () => {
  expect(importsOf(standIn())).toEqual([])
  expect(importsOf(withImports('KERNEL32.dll', 'evil.dll'))).toEqual(['evil.dll', 'kernel32.dll'])
  expect(() => importsOf(Buffer.alloc(100))).toThrow('no program of Windows')
})

test('the stand-in has a name and nothing to run', () => {
  const file = standIn()
  const { known } = librariesNamed(file)
  expect(known).toEqual([standInName])
  // Where it would begin, and how much code there is.
  expect([file.readUInt32LE(0x58 + 16), file.readUInt32LE(0x58 + 4)]).toEqual([0, 0])
})

/** The stand-in with a table of imports behind its exports. */
function withImports(...names: readonly string[]): Buffer {
  const file = standIn()
  const [section, at] = [0x200, 0x100]
  file.writeUInt32LE(0x200, 0x58 + 240 + 8)
  file.writeUInt32LE(0x1000 + at, 0x58 + 120)
  let end = at + 20 * (names.length + 1)
  for (const [index, name] of names.entries()) {
    file.writeUInt32LE(0x1000 + end, section + at + 20 * index + 12)
    file.write(`${name}\0`, section + end, 'latin1')
    end += name.length + 1
  }
  return file
}
