import { forgetHostKey, listPinnedKeys, pinHostKey } from '../identity/host-key.ts'
import type { Identity } from '../identity/identity.ts'
import { decideHostKey, type HostKeyEvidence, listAcceptedPins, listLikelyKeys } from './decide-host-key.ts'
import type { Hop } from './hop.ts'
import type { UnknownHostKey } from './host-key-errors.ts'
import type { KnownHostKeys } from './known-hosts.ts'

/** Host keys of a cluster during one command. Keys that are accepted for the first time are pinned. */
export class HostKeyStore {
  readonly #loaded: Identity
  /**
   * Keys pinned during this command, by name. They are not added to the identity one by one, because each
   * addition copies the whole identity.
   */
  readonly #pins = new Map<string, string[]>()
  readonly #forgotten: ReadonlySet<string>
  readonly #unknown = new Map<string, UnknownHostKey>()

  /** `forgotten` are hosts whose pinned key is dropped, so that the key they present now is accepted. */
  constructor(identity: Identity, forgotten: readonly string[] = []) {
    this.#loaded = forgotten.reduce(forgetHostKey, identity)
    this.#forgotten = new Set(forgotten)
  }

  /**
   * Checks the key of a machine. An accepted key that is not pinned yet is pinned. Throws if another key is
   * expected.
   */
  verify(key: string, hop: Hop, known: KnownHostKeys): 'known' | 'unknown' {
    const evidence = this.#collectEvidence(hop, known)
    const decision = decideHostKey(key, evidence)
    if (decision === 'unknown') {
      const { name, address, port } = hop
      this.#unknown.set(name, { name, address, port, key, hasCa: known.cas.length > 0 })
      return 'unknown'
    }
    if (!listAcceptedPins(evidence).includes(key)) this.#pin(hop.name, key)
    return 'known'
  }

  /** Returns the pinned keys of a machine that are still accepted. */
  pinned(hop: Hop, known: KnownHostKeys): readonly string[] {
    return listAcceptedPins(this.#collectEvidence(hop, known))
  }

  /** Returns keys that the machine probably has. */
  likely(hop: Hop, known: KnownHostKeys): readonly string[] {
    return listLikelyKeys(this.#collectEvidence(hop, known))
  }

  /** True if the key of a machine must be shown to the operator before it can be accepted. */
  needsOperator(hop: Hop, known: KnownHostKeys): boolean {
    const isDecided = hop.hostKey !== undefined || this.#forgotten.has(hop.name)
    return !isDecided && this.likely(hop, known).length === 0
  }

  /** Unknown keys that machines have presented, in the order of their names. */
  get unknown(): readonly UnknownHostKey[] {
    return [...this.#unknown.values()].toSorted((a, b) =>
      a.name.localeCompare(b.name, 'en', { numeric: true }),
    )
  }

  /** The unknown key that a machine has presented, if any. */
  findUnknown(name: string): UnknownHostKey | undefined {
    return this.#unknown.get(name)
  }

  /** Pins unknown keys that the operator has accepted. */
  accept(keys: readonly UnknownHostKey[]): void {
    for (const { name, key } of keys) {
      this.#pin(name, key)
      this.#unknown.delete(name)
    }
  }

  get identity(): Identity {
    if (!this.changed) return this.#loaded
    return { ...this.#loaded, hostKeys: { ...this.#loaded.hostKeys, ...Object.fromEntries(this.#pins) } }
  }

  /** True if new keys were pinned, so the identity must be saved. */
  get changed(): boolean {
    return this.#pins.size > 0
  }

  #pin(name: string, key: string): void {
    const { hostKeys } = pinHostKey({ hostKeys: {} }, name, [key])
    this.#pins.set(name, [...listPinnedKeys(hostKeys, name)])
  }

  #collectEvidence(hop: Hop, known: KnownHostKeys): HostKeyEvidence {
    const pinned = this.#pins.get(hop.name)
    const pins = pinned === undefined ? this.#loaded.hostKeys : Object.fromEntries([[hop.name, pinned]])
    return { hop, known, pins, forgotten: this.#forgotten.has(hop.name) }
  }
}
