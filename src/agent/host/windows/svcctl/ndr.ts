/**
 * This file implements the NDR encoding of DCE 1.1, as far as the Service Control Manager uses it. Numbers
 * are little-endian and aligned to four bytes.
 */

/** Writes the arguments of a procedure. */
export class NdrWriter {
  readonly #parts: Buffer[] = []
  #length = 0
  #pointers = 0

  uint32(...values: readonly number[]): this {
    const bytes = Buffer.alloc(4 * values.length)
    for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index)
    return this.raw(bytes)
  }

  /** Writes bytes and pads them to the next multiple of four. */
  raw(bytes: Uint8Array): this {
    const rest = (4 - (bytes.length % 4)) % 4
    this.#parts.push(Buffer.from(bytes), Buffer.alloc(rest))
    this.#length += bytes.length + rest
    return this
  }

  /** Writes a non-null pointer. The caller writes its target afterwards. */
  pointer(): this {
    return this.uint32(0x20000 + 4 * this.#pointers++)
  }

  string(text: string): this {
    const count = text.length + 1
    return this.uint32(count, 0, count).raw(Buffer.from(`${text}\0`, 'utf16le'))
  }

  /** Writes a pointer to a text, or a null pointer. */
  optionalString(text?: string): this {
    return text === undefined ? this.uint32(0) : this.pointer().string(text)
  }

  /** Writes bytes preceded by their count. */
  array(bytes: Uint8Array): this {
    return this.uint32(bytes.length).raw(bytes)
  }

  optionalArray(bytes?: Uint8Array): this {
    return bytes === undefined ? this.uint32(0) : this.pointer().array(bytes)
  }

  get length(): number {
    return this.#length
  }

  toBuffer(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

/** Reads the results of a procedure. Throws if the input is too short. */
export class NdrReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes)
  }

  uint32(): number {
    return this.raw(4).readUInt32LE()
  }

  raw(count: number): Buffer {
    const end = this.#at + count
    if (end > this.#bytes.length) throw new RangeError(`${count} bytes are missing at ${this.#at}`)
    const bytes = this.#bytes.subarray(this.#at, end)
    this.#at = Math.min(end + ((4 - (end % 4)) % 4), this.#bytes.length)
    return bytes
  }

  string(): string {
    const [, offset, count] = [this.uint32(), this.uint32(), this.uint32()]
    if (offset !== 0) throw new RangeError('a string has an offset other than 0')
    return this.raw(2 * count)
      .toString('utf16le')
      .replace(/\0+$/, '')
  }

  optionalString(): string | undefined {
    return this.uint32() === 0 ? undefined : this.string()
  }

  array(): Buffer {
    return this.raw(this.uint32())
  }

  optionalArray(): Buffer | undefined {
    return this.uint32() === 0 ? undefined : this.array()
  }
}

/**
 * Encodes a list of strings as REG_MULTI_SZ: each string ends with NUL, and the list ends with one more NUL.
 */
export function encodeMultiString(values: readonly string[]): Buffer {
  const text = values.length === 0 ? '\0' : values.map((value) => `${value}\0`).join('')
  return Buffer.from(`${text}\0`, 'utf16le')
}

export function decodeMultiString(bytes: Uint8Array): string[] {
  return Buffer.from(bytes)
    .toString('utf16le')
    .split('\0')
    .filter((value) => value !== '')
}
