import { checkHostKey, pinHostKey } from '../identity/host-key.ts'
import type { Identity } from '../identity/identity.ts'
import type { Hop } from '../ssh/ssh-route.ts'

/** The keys by which hosts are known. Those of a host that is met for the first time are remembered. */
export class HostKeys {
  #identity: Identity
  readonly #known: Identity

  constructor(identity: Identity) {
    this.#identity = identity
    this.#known = identity
  }

  /** Throws for a host that is known by another key. */
  verify(key: string, { name }: Pick<Hop, 'name'>): 'known' | 'first-use' {
    const seen = checkHostKey(this.#identity, name, key)
    if (seen === 'first-use') this.#identity = pinHostKey(this.#identity, name, [key])
    return seen
  }

  pinned({ name }: Pick<Hop, 'name'>): readonly string[] {
    return Object.hasOwn(this.#identity.hostKeys, name) ? (this.#identity.hostKeys[name] ?? []) : []
  }

  get identity(): Identity {
    return this.#identity
  }

  /** Whether there is something to remember. */
  get changed(): boolean {
    return this.#identity !== this.#known
  }
}
