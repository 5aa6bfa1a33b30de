import { HyperkubeError } from '../kit/errors.ts'

const block = 512
/** What eleven octal digits can say. */
const largest = 8 ** 11 - 1

/** The two empty blocks that end an archive. */
export const tarEnd: Buffer = Buffer.alloc(2 * block)

/**
 * The header of a file in a tar archive. The same name and size always give the same bytes: nobody's clock, user or
 * machine is in it. So a header can also be checked byte by byte.
 */
export function tarHeader(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100 || size > largest) {
    throw new HyperkubeError('BUNDLE_TOO_LARGE', `${name} of ${size} bytes does not fit into a bundle`)
  }
  const header = Buffer.alloc(block)
  header.write(name, 0)
  header.write('0000644\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write(`${octal(size, 11)}\0`, 124)
  header.write(`${octal(0, 11)}\0`, 136)
  // The checksum counts itself as blanks.
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\0', 257)
  header.write('00', 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)}\0 `, 148)
  return header
}

/** What a header says of its file's size, which is to be believed only once the header was compared as a whole. */
export function sizeIn(header: Buffer): number {
  return Number.parseInt(header.toString('latin1', 124, 135), 8)
}

/** Empty bytes behind a file, up to the next block. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block)
}

/** A file that is small enough to be had at once. */
export function* tarFile(name: string, content: Buffer): Generator<Uint8Array> {
  yield tarHeader(name, content.length)
  yield content
  yield tarPadding(content.length)
}

/** How much of an archive a file takes. */
export function tarSpace(size: number): number {
  return block + size + tarPadding(size).length
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}
