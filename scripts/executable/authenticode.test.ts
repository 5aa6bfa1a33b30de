import { expect, test } from 'vitest'
import { removeAuthenticode } from './authenticode.ts'

/** A Windows program of 512 bytes with a signature of 64 bytes. */
function createProgram(): Buffer {
  const program = Buffer.alloc(576, 1)
  const header = 0x80 + 24
  program.writeUInt32LE(0x80, 0x3c)
  program.writeUInt16LE(0x20b, header)
  program.writeUInt32LE(512, header + 144)
  program.writeUInt32LE(64, header + 148)
  return program
}

test('the signature and its entry are removed, and an unsigned program stays as it is', () => {
  const unsigned = removeAuthenticode(createProgram())
  expect(unsigned).toHaveLength(512)
  expect(unsigned.readBigUInt64LE(0x80 + 24 + 144)).toBe(0n)
  expect(removeAuthenticode(unsigned).equals(unsigned)).toBe(true)
})

test('a signature that is not at the end is refused', () => {
  const program = Buffer.concat([createProgram(), Buffer.alloc(1)])
  expect(() => removeAuthenticode(program)).toThrow('not at the end')
})
