import { HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'

/** Where a host shall connect to. */
export interface Target {
  readonly address: string
  readonly port: number
}

/** What a host said when it made no connection: the words are ssh's. */
export function dialFailed(host: string, { address, port }: Target, words: string): HyperkubeError {
  if (/administratively prohibited/i.test(words)) {
    const message = `its sshd lets nobody connect to ${address} port ${port} through it`
    return new HyperkubeError('SSH_FORWARD_FORBIDDEN', message, {
      host,
      hint: 'set AllowTcpForwarding yes in its sshd_config, then systemctl reload ssh; PermitOpen and the options of a key in authorized_keys may forbid it too',
    })
  }
  const nobody = /Connection refused|ECONNREFUSED/.test(words)
  const why = nobody ? 'nothing listens there' : printable(words.replace('connect failed: ', ''))
  return new HyperkubeError('SSH_DIAL_REFUSED', `${address} port ${port} takes no connection: ${why}`, {
    host,
    hint: `on the host: ss -Htlnp sport = :${port}`,
  })
}

/** What ssh's own program would say of a channel that was not opened; undefined when nobody answered at all. */
export function openFailure(error: Error): string | undefined {
  if (!('reason' in error) || typeof error.reason !== 'number') return undefined
  const words = error.message.replace('(SSH) Channel open failure: ', '')
  return error.reason === prohibited ? `administratively prohibited: ${words}` : words
}

/** RFC 4254, section 5.1. */
const prohibited = 1
