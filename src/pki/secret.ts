import { createHash } from 'node:crypto'
import { inspect } from 'node:util'

/**
 * Bytes that must not be shown by accident. Wherever it is printed, logged or serialized it says its name and the
 * beginning of a digest: enough to see that two are the same, too little to guess a weak one.
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

  /** A copy of the bytes: the one way to them. */
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
