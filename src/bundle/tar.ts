import { HyperkubeError } from '../kit/errors.ts'

const blockSize = 512
/** The size field of a tar header has eleven octal digits. */
const maxFileSize = 8 ** 11 - 1

/** The two empty blocks that end an archive. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockSize)

/**
 * Builds the tar header of a file. It contains no time, user or machine, so the same name and size always
 * give the same bytes. A reader can therefore compare whole headers.
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
  // The checksum is computed with blanks in the checksum field.
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\0', 257)
  header.write('00', 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)}\0 `, 148)
  return header
}

/** Reads the file size from a tar header. Callers must compare the whole header before they trust it. */
export function readTarSize(header: Buffer): number {
  return Number.parseInt(header.toString('latin1', 124, 135), 8)
}

/** Zero bytes that fill the last block of a file. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((blockSize - (size % blockSize)) % blockSize)
}

/** Yields an archive entry whose content is in memory. */
export function* tarFile(name: string, content: Buffer): Generator<Uint8Array> {
  yield tarHeader(name, content.length)
  yield content
  yield tarPadding(content.length)
}

/** Returns the number of bytes that a file of this size occupies in an archive. */
export function tarEntrySize(size: number): number {
  return blockSize + size + tarPadding(size).length
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}
