import type { Hop } from './hop.ts'

/**
 * Called for each machine on the route whose host key is not pinned, before any key is offered to the
 * machine. If the function throws, the connection attempt fails with the same error.
 */
export type VerifyHostKey = (key: string, hop: Hop) => HostKeyStatus | Promise<HostKeyStatus>
export type HostKeyStatus = 'known' | 'first-use'

export interface Keepalive {
  /** Milliseconds between two keepalive requests. */
  readonly interval: number
  /** Number of keepalives without a response after which the connection is lost. */
  readonly count: number
}

export interface ConnectOptions {
  readonly verify: VerifyHostKey
  readonly signal: AbortSignal
  /** Returns the pinned host keys of a machine. Their key types are requested first. */
  readonly pinned?: (hop: Hop) => readonly string[]
  /** Socket of the ssh agent. */
  readonly agent?: string | undefined
  /**
   * Timeout in milliseconds for each machine on the route. It applies once to the connection and once to the
   * login.
   */
  readonly timeout?: number
  readonly keepalive?: Keepalive
  /** Set for a Windows host. `base` is the directory that contains all files of hyperkube. */
  readonly windows?: { readonly base: string } | undefined
}

export interface ConnectSettings extends Required<Omit<ConnectOptions, 'agent' | 'windows'>> {
  /** Host name for error messages. */
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
