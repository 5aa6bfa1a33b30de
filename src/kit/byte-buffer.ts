/**
 * Collects bytes in one block that doubles in size when it is full. A list of chunks could take far more
 * memory than the bytes themselves, because a sender may send one byte per chunk.
 */
export class ByteBuffer {
  #block = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#block.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#block.length))
      this.#block.copy(grown, 0, 0, this.#length)
      this.#block = grown
    }
    this.#block.set(chunk, this.#length)
    this.#length = length
  }

  /** Returns the collected bytes and empties the buffer. */
  take(): Buffer {
    const taken = this.#block.subarray(0, this.#length)
    this.#block = Buffer.alloc(0)
    this.#length = 0
    return taken
  }
}
