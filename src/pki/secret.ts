import { createHash } from 'node:crypto'
import { inspect } from 'node:util'

/**
 * Bytes that must not be printed by accident. Printing, logging or serializing shows only the name and the
 * first characters of a digest, which is enough to compare two secrets.
 */
export class Secret {
  readonly name: string
  readonly #bytes: Uint8Array

  constructor(name: string, content: Uint8Array | string) {
    this.name = name
    this.#bytes = typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content)
  }

  get size(): number {
    return this.#bytes.length
  }

  /** Returns a copy of the bytes. */
  reveal(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#bytes)
  }

  revealText(): string {
    return new TextDecoder().decode(this.#bytes)
  }

  toString(): string {
    const digest = createHash('sha256').update(this.#bytes).digest('hex')
    return `[secret ${this.name} sha256:${digest.slice(0, 4)}…]`
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect.custom](): string {
    return this.toString()
  }
}
