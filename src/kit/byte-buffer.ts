/**
 * Collects bytes in one block that doubles as it fills. A list of chunks would take far more memory than the
 * bytes if a sender writes them one by one.
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

  /** Returns the collected bytes and begins again with none. */
  take(): Buffer {
    const taken = this.#block.subarray(0, this.#length)
    this.#block = Buffer.alloc(0)
    this.#length = 0
    return taken
  }
}
