import { HyperkubeError } from '../kit/errors.ts'

const blockSize = 512
/** Maximum file size in bytes. The size field of a tar header has eleven octal digits. */
const maxFileSize = 8 ** 11 - 1

/** The two empty blocks that end an archive. */
export const tarEnd: Buffer = Buffer.alloc(2 * blockSize)

/**
 * Builds the tar header of a file. It contains no time, no user and no host name, so the same name and size
 * always give the same bytes. A reader can therefore compare whole headers.
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

/**
 * Reads the file size from a tar header. Callers must compare the whole header with the expected header
 * before they trust the size.
 */
export function readTarSize(header: Buffer): number {
  return Number.parseInt(header.toString('latin1', 124, 135), 8)
}

/** Returns the zero bytes that fill the last block of a file. */
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

/** Reads a stream of chunks in pieces of requested sizes. Holds at most one chunk in memory. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #left: Uint8Array = Buffer.of()

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Yields the next `size` bytes in pieces of any length. Yields fewer bytes only if the stream ends. */
  async *upTo(size: number): AsyncGenerator<Uint8Array> {
    for (let wanted = size; wanted > 0;) {
      if (this.#left.length === 0 && !(await this.#next())) return
      const piece = this.#left.subarray(0, wanted)
      this.#left = this.#left.subarray(piece.length)
      wanted -= piece.length
      yield piece
    }
  }

  /**
   * Reads the next `size` bytes into one buffer. Only for small sizes, because all bytes are kept in memory.
   */
  async take(size: number): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    for await (const piece of this.upTo(size)) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  async #next(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#chunks.next()
      if (done === true) return false
      this.#left = value
      if (value.length > 0) return true
    }
  }
}
