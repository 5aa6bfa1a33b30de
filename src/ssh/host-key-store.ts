import { checkHostKey, pinHostKey } from '../identity/host-key.ts'
import type { Identity } from '../identity/identity.ts'
import type { Hop } from './hop.ts'

/** Known ssh host keys. The key of a new host is stored at the first connection. */
export class HostKeyStore {
  #identity: Identity
  readonly #known: Identity

  constructor(identity: Identity) {
    this.#identity = identity
    this.#known = identity
  }

  /**
   * Checks the key of a host and stores the key if the host is new. Throws if another key is stored for the
   * host.
   */
  verify(key: string, { name }: Pick<Hop, 'name'>): 'known' | 'first-use' {
    const result = checkHostKey(this.#identity, name, key)
    if (result === 'first-use') this.#identity = pinHostKey(this.#identity, name, [key])
    return result
  }

  pinned({ name }: Pick<Hop, 'name'>): readonly string[] {
    return Object.hasOwn(this.#identity.hostKeys, name) ? (this.#identity.hostKeys[name] ?? []) : []
  }

  get identity(): Identity {
    return this.#identity
  }

  /** True if new keys were stored, so the identity must be saved. */
  get changed(): boolean {
    return this.#identity !== this.#known
  }
}
