import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/printable.ts'

/** Address and port to which the host opens a connection. */
export interface DialTarget {
  readonly address: string
  readonly port: number
}

/** Builds the error for a connection that the host did not open. `message` is the text of ssh. */
export function buildDialError(host: string, { address, port }: DialTarget, message: string): HyperkubeError {
  if (/administratively prohibited/i.test(message)) {
    const text = `its sshd forbids connections to ${address} port ${port} through it`
    return new HyperkubeError('SSH_FORWARD_FORBIDDEN', text, {
      host,
      hint: 'set AllowTcpForwarding yes in its sshd_config, then systemctl reload ssh; PermitOpen and the options of a key in authorized_keys may forbid it too',
    })
  }
  const isRefused = /Connection refused|ECONNREFUSED/.test(message)
  const why = isRefused ? 'nothing listens there' : toPrintable(message.replace('connect failed: ', ''))
  return new HyperkubeError('SSH_DIAL_REFUSED', `${address} port ${port} takes no connection: ${why}`, {
    host,
    hint: `on the host: ss -Htlnp sport = :${port}`,
  })
}

/**
 * Returns why a channel was not opened, in the words of the ssh program. Returns undefined if the host did
 * not respond.
 */
export function parseOpenFailure(error: Error): string | undefined {
  if (!('reason' in error) || typeof error.reason !== 'number') return undefined
  const message = error.message.replace('(SSH) Channel open failure: ', '')
  return error.reason === administrativelyProhibited ? `administratively prohibited: ${message}` : message
}

/** Reason code of a refused channel (RFC 4254, section 5.1). */
const administrativelyProhibited = 1
