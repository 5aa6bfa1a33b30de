import type { Hop } from './hop.ts'

/**
 * Called for each machine on the route whose host key is not pinned, before any key is offered to the
 * machine. If the function throws, the connection attempt fails with the same error.
 */
export type VerifyHostKey = (key: string, hop: Hop) => HostKeyStatus | Promise<HostKeyStatus>
export type HostKeyStatus = 'known' | 'first-use'

/** CAs that sign the host certificate of a machine, and keys that it must not have. */
export interface HostCas {
  readonly cas: readonly string[]
  readonly revoked: readonly string[]
}

export interface Keepalive {
  /** Milliseconds between two keepalive requests. */
  readonly interval: number
  /** Number of keepalives without a response after which the connection is lost. */
  readonly count: number
}

export interface ConnectOptions {
  readonly verify: VerifyHostKey
  readonly signal: AbortSignal
  /** Returns the pinned host keys of a machine. */
  readonly pinned?: (hop: Hop) => readonly string[]
  /** Returns keys that a machine probably has. Their types are requested first. Default: the pinned keys. */
  readonly likely?: (hop: Hop) => readonly string[]
  /** Returns the CAs of host certificates. Only the ssh program supports them. */
  readonly hostCas?: (hop: Hop) => HostCas
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
  const { pinned = () => [] } = options
  return {
    host,
    verify: options.verify,
    signal: options.signal,
    pinned,
    likely: options.likely ?? pinned,
    hostCas: options.hostCas ?? (() => ({ cas: [], revoked: [] })),
    agent: options.agent,
    timeout: options.timeout ?? 10_000,
    keepalive: options.keepalive ?? { interval: 15_000, count: 3 },
  }
}
