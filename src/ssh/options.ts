import type { Hop } from './ssh-route.ts'

/**
 * Asked about each machine on the way that shows a key which is not pinned, before any key of ours is shown to it. What it
 * throws ends the attempt, and reaches the caller as it is.
 */
export type Verify = (key: string, hop: Hop) => KeySeen | Promise<KeySeen>
export type KeySeen = 'known' | 'first-use'

export interface Keepalive {
  /** Milliseconds between two questions to a silent host. */
  readonly interval: number
  /** How many may stay without an answer. */
  readonly count: number
}

export interface ConnectOptions {
  readonly verify: Verify
  readonly signal: AbortSignal
  /** The keys that are right for a machine. Of several kinds that it has, it is asked for one of theirs. */
  readonly pinned?: (hop: Hop) => readonly string[]
  /** The socket of the ssh agent. */
  readonly agent?: string | undefined
  /** Milliseconds that each machine on the way has to answer, and then again to let us in. */
  readonly timeout?: number
  readonly keepalive?: Keepalive
  /** A host of Windows, and the directory below which all of ours is there. */
  readonly windows?: { readonly base: string } | undefined
}

export interface Settings extends Required<Omit<ConnectOptions, 'agent' | 'windows'>> {
  /** Whom all this is for: what errors are told of. */
  readonly host: string
  readonly agent: string | undefined
}

export function settingsOf(host: string, options: ConnectOptions): Settings {
  return {
    host,
    verify: options.verify,
    signal: options.signal,
    pinned: options.pinned ?? (() => []),
    agent: options.agent,
    timeout: options.timeout ?? 10_000,
    keepalive: options.keepalive ?? { interval: 15_000, count: 3 },
  }
}
