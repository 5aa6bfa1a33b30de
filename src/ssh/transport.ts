import type { Duplex, Readable, Writable } from 'node:stream'
import type { Argv } from '../kit/command.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import { asError } from './deadline.ts'

/** Starts programs and opens connections on a host. A `Remote` is built on a transport. */
export interface Transport {
  readonly host: string
  /** Login user on the host. */
  readonly user: string
  start(argv: Argv, signal: AbortSignal): Promise<Channel>
  dial(target: DialTarget, signal: AbortSignal): Promise<Duplex>
  /**
   * Connects to a Unix socket of the host as the login user. Returns undefined if the host refuses. The
   * method is undefined if the transport does not support Unix sockets.
   */
  dialSocket?(path: string, signal: AbortSignal): Promise<Duplex | undefined>
  close(): Promise<void>
}

/** Transport over ssh. It can also run a command line in the login shell and start a subsystem. */
export interface SshTransport extends Transport {
  startLine(line: string, signal: AbortSignal): Promise<Channel>
  subsystem(name: string, signal: AbortSignal): Promise<Channel>
}

/** A running program on a host. */
export interface Channel {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Exit code of the program. Rejects when the connection is lost, or with the reason of `kill`. */
  readonly ended: Promise<number>
  /** Ends the program if possible and closes its input and output. `ended` then rejects with the reason. */
  readonly kill: (reason: unknown) => void
}

/** Address and port to which the host opens a connection. */
export interface DialTarget {
  readonly address: string
  readonly port: number
}

/** Builds the error for a connection that the host did not open. `message` is the error text of ssh. */
export function buildDialError(host: string, { address, port }: DialTarget, message: string): HyperkubeError {
  if (/administratively prohibited/i.test(message)) {
    const text = `sshd forbids TCP forwarding to ${address} port ${port}`
    return new HyperkubeError('SSH_FORWARD_FORBIDDEN', text, {
      host,
      hint: 'on the host: set AllowTcpForwarding yes in sshd_config, then systemctl reload ssh; also check PermitOpen and the key options in authorized_keys',
    })
  }
  const isRefused = /Connection refused|ECONNREFUSED/.test(message)
  const why = isRefused ? 'nothing listens there' : toPrintable(message.replace('connect failed: ', ''))
  return new HyperkubeError('SSH_DIAL_REFUSED', `cannot connect to ${address} port ${port}: ${why}`, {
    host,
    hint: `on the host: ss -Htlnp sport = :${port}`,
  })
}

/**
 * Returns why a channel was not opened, worded like the messages of the ssh program. Returns undefined if the
 * host did not respond.
 */
export function parseOpenFailure(error: Error): string | undefined {
  if (!('reason' in error) || typeof error.reason !== 'number') return undefined
  const message = error.message.replace('(SSH) Channel open failure: ', '')
  return error.reason === administrativelyProhibited ? `administratively prohibited: ${message}` : message
}

/** Reason code of a refused channel (RFC 4254, section 5.1). */
const administrativelyProhibited = 1

/**
 * Destroys the stream when one of the signals is aborted. The abort reason becomes the error of the stream.
 */
export function destroyOnAbort<T extends Duplex>(stream: T, signals: readonly AbortSignal[]): T {
  const listeners = signals.map((signal) => ({ signal, abort: () => stream.destroy(asError(signal.reason)) }))
  for (const { signal, abort } of listeners) {
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  }
  stream.once('close', () => {
    for (const { signal, abort } of listeners) signal.removeEventListener('abort', abort)
  })
  // An error event without a listener would crash the process.
  return stream.on('error', () => undefined)
}
