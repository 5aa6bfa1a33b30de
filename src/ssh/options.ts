import type { Hop } from './hop.ts'

/**
 * Called for each machine on the route whose host key is not pinned, before any of our keys is offered. An
 * error ends the attempt and is passed to the caller.
 */
export type VerifyHostKey = (key: string, hop: Hop) => HostKeyStatus | Promise<HostKeyStatus>
export type HostKeyStatus = 'known' | 'first-use'

export interface Keepalive {
  /** Milliseconds between two keepalive requests. */
  readonly interval: number
  /** Maximum number of keepalives without a response. */
  readonly count: number
}

export interface ConnectOptions {
  readonly verify: VerifyHostKey
  readonly signal: AbortSignal
  /** Pinned host keys of a machine. Their key types are requested first. */
  readonly pinned?: (hop: Hop) => readonly string[]
  /** Socket of the ssh agent. */
  readonly agent?: string | undefined
  /** Milliseconds for each machine on the route to respond, and again to log in. */
  readonly timeout?: number
  readonly keepalive?: Keepalive
  /** Set for a Windows host: the directory that contains everything of hyperkube. */
  readonly windows?: { readonly base: string } | undefined
}

export interface ConnectSettings extends Required<Omit<ConnectOptions, 'agent' | 'windows'>> {
  /** Host to name in errors. */
  readonly host: string
  readonly agent: string | undefined
}

export function resolveConnectSettings(host: string, options: ConnectOptions): ConnectSettings {
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
