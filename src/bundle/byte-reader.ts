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
