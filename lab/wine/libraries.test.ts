import { expect, test } from 'vitest'
import { readImports, isWindowsLibrary, findLibraryNames } from './libraries.ts'
import { buildPrngLibrary, prngLibraryName } from './prng-library.ts'

test('library names are found in unterminated strings, and unknown names are listed separately', () => {
  const texts =
    'm->curg=(unknown)ntdll.dllpsapi.dllFindCloseSocketWws2_32.dllowner diedx-evil.dll bcryptprimitives.dll not found'
  expect(findLibraryNames(Buffer.from(texts))).toEqual({
    known: ['bcryptprimitives.dll', 'ntdll.dll', 'psapi.dll', 'ws2_32.dll'],
    unknown: ['diedx-evil.dll'],
  })
  expect(['kernel32.dll', 'api-ms-win-core-file-l2-1-4.dll', 'evil.dll'].map(isWindowsLibrary)).toEqual([
    true,
    true,
    false,
  ])
})

test('imports are read from the import table', () => {
  expect(readImports(buildPrngLibrary())).toEqual([])
  expect(readImports(withImports('KERNEL32.dll', 'evil.dll'))).toEqual(['evil.dll', 'kernel32.dll'])
  expect(() => readImports(Buffer.alloc(100))).toThrow('not a Windows program')
})

test('the PRNG library has a name and no code', () => {
  const file = buildPrngLibrary()
  const { known } = findLibraryNames(file)
  expect(known).toEqual([prngLibraryName])
  // Entry point and code size are 0, because the library has no code.
  expect([file.readUInt32LE(0x58 + 16), file.readUInt32LE(0x58 + 4)]).toEqual([0, 0])
})

/** Returns the PRNG library with an import table added after its exports. */
function withImports(...names: readonly string[]): Buffer {
  const file = buildPrngLibrary()
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
