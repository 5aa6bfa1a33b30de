import { HyperkubeError } from '../kit/errors.ts'

const blockSize = 512
/** Largest number with eleven octal digits. */
const maxFileSize = 8 ** 11 - 1

/** The two empty blocks that end an archive. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockSize)

/**
 * Header of a file in a tar archive. It contains no clock, user or machine, so that equal name and size
 * always give equal bytes. A header can therefore be verified byte by byte.
 */
export function tarHeader(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100 || size > maxFileSize) {
    throw new HyperkubeError('BUNDLE_TOO_LARGE', `${name} of ${size} bytes does not fit into a bundle`)
  }
  const header = Buffer.alloc(blockSize)
  header.write(name, 0)
  header.write('0000644\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write(`${octal(size, 11)}\0`, 124)
  header.write(`${octal(0, 11)}\0`, 136)
  // The checksum is computed with its own field as blanks.
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\0', 257)
  header.write('00', 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)}\0 `, 148)
  return header
}

/** File size in a header. Trust it only after the whole header was compared. */
export function readTarSize(header: Buffer): number {
  return Number.parseInt(header.toString('latin1', 124, 135), 8)
}

/** Zero bytes after a file, up to the next block. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((blockSize - (size % blockSize)) % blockSize)
}

/** An archive entry for content that fits in memory. */
export function* tarFile(name: string, content: Buffer): Generator<Uint8Array> {
  yield tarHeader(name, content.length)
  yield content
  yield tarPadding(content.length)
}

/** Bytes that a file takes in an archive. */
export function tarEntrySize(size: number): number {
  return blockSize + size + tarPadding(size).length
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}
