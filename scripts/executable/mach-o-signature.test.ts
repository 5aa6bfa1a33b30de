import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { signMachO } from './mach-o-signature.ts'

const pageBytes = 4096

/** A macOS program with two segments and space for another load command. */
function createProgram(contentBytes: number): Buffer {
  const program = Buffer.alloc(pageBytes + contentBytes, 7)
  program.fill(0, 0, pageBytes)
  program.writeUInt32LE(0xfeedfacf, 0)
  program.writeUInt32LE(2, 16)
  program.writeUInt32LE(144, 20)
  for (const [index, [name, offset, size]] of (
    [
      ['__TEXT', 0, pageBytes],
      ['__LINKEDIT', pageBytes, contentBytes],
    ] as const
  ).entries()) {
    const start = 32 + index * 72
    program.writeUInt32LE(0x19, start)
    program.writeUInt32LE(72, start + 4)
    program.write(name, start + 8, 'latin1')
    program.writeBigUInt64LE(BigInt(size), start + 32)
    program.writeBigUInt64LE(BigInt(offset), start + 40)
    program.writeBigUInt64LE(BigInt(size), start + 48)
  }
  return program
}

/** Reads the position of the signature and compares the hash of each page with the content. */
function isSignatureValid(program: Buffer): boolean {
  const command = 32 + 2 * 72
  const start = program.readUInt32LE(command + 8)
  const directory = start + 20
  const hashes = directory + program.readUInt32BE(directory + 16)
  const count = program.readUInt32BE(directory + 28)
  return (
    program.readUInt32LE(command) === 0x1d &&
    program.readUInt32BE(directory + 32) === start &&
    count === Math.ceil(start / pageBytes) &&
    Array.from({ length: count }, (_, page) => page).every((page) => {
      const content = program.subarray(page * pageBytes, Math.min((page + 1) * pageBytes, start))
      const hash = createHash('sha256').update(content).digest()
      return hash.equals(program.subarray(hashes + page * 32, hashes + page * 32 + 32))
    })
  )
}

test.each([16, 4096, 10_001])('a program of %d bytes gets a signature of all its pages', (size) => {
  const signed = signMachO(createProgram(size), 'hyperkube')
  expect(isSignatureValid(signed)).toBe(true)
  const linkEdit = 32 + 72
  expect(Number(signed.readBigUInt64LE(linkEdit + 48))).toBe(signed.length - pageBytes)
  signed[pageBytes + 1] = 8
  expect(isSignatureValid(signed)).toBe(false)
})

test('signing again replaces the signature', () => {
  const signed = signMachO(createProgram(10_001), 'hyperkube')
  expect(signMachO(signed, 'hyperkube').equals(signed)).toBe(true)
})

test('a program without space for the command is refused', () => {
  const program = createProgram(16)
  program[32 + 2 * 72] = 1
  expect(() => signMachO(program, 'hyperkube')).toThrow('no space')
  expect(() => signMachO(Buffer.alloc(100), 'hyperkube')).toThrow('not a 64-bit macOS program')
})
