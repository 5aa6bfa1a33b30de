import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/printable.ts'
import type { Hop } from './hop.ts'
import { formatHopEndpoint, formatSshTarget } from './unreachable-error.ts'

/** Details of a login that a host refused. */
export interface LoginRefusal {
  /** Offered keys, each with its file or comment and its fingerprint. */
  readonly offered: readonly string[]
  /** Key files with a passphrase. */
  readonly encrypted: readonly string[]
  /** Authentication methods that the host offers. */
  readonly methods: readonly string[]
  /** True if the host accepted a key but requires a further method. */
  readonly partial: boolean
}

export function buildNotAcceptedError(host: string, hop: Hop, refusal: LoginRefusal): HyperkubeError {
  const { offered, encrypted, methods, partial } = refusal
  const login = `${hop.user}@${hop.address}`
  const offeredMethods = toPrintable(methods.join(', '))
  if (partial) {
    const message = `${login} wants more than a key: ${offeredMethods}`
    return buildNoKeyAcceptedError(
      message,
      host,
      'let a key be enough for this user: AuthenticationMethods in sshd_config',
    )
  }
  if (methods.length > 0 && !methods.includes('publickey')) {
    const message = `${login} takes no keys, only ${offeredMethods}`
    return buildNoKeyAcceptedError(
      message,
      host,
      'set PubkeyAuthentication yes in its sshd_config; passwords are never asked for',
    )
  }
  const [first] = encrypted
  if (first !== undefined) {
    const message = `the key ${first} wants a passphrase, and the ssh agent does not hold it`
    return new HyperkubeError('SSH_KEY_ENCRYPTED', message, { host, hint: `ssh-add ${first}` })
  }
  if (offered.length === 0) {
    const message = `there is no key to offer to ${login}: the ssh agent holds none, and no key file is there`
    return buildNoKeyAcceptedError(
      message,
      host,
      `ssh-keygen -t ed25519, then ssh-copy-id ${formatSshTarget(hop)}`,
    )
  }
  const keys = toPrintable(offered.join(', '))
  const also = methods.length > 1 ? `; it takes ${offeredMethods}` : ''
  return buildNoKeyAcceptedError(
    `${login} takes none of our keys: ${keys}${also}`,
    host,
    `ssh-copy-id ${formatSshTarget(hop)}`,
  )
}

function buildNoKeyAcceptedError(message: string, host: string, hint: string): HyperkubeError {
  return new HyperkubeError('SSH_NO_KEY_ACCEPTED', message, { host, hint })
}

/**
 * Builds the error for a host that disconnects after MaxAuthTries keys. The right key may be among those that
 * were not offered.
 */
export function buildTooManyKeysError(host: string, hop: Hop, offered: readonly string[]): HyperkubeError {
  const message = `${hop.user}@${hop.address} hung up after too many keys: ${toPrintable(offered.join(', '))}`
  return buildNoKeyAcceptedError(message, host, 'name the right one in cluster.yml: ssh.key')
}

export function buildKeyNotReadError(host: string, path: string, reason: string): HyperkubeError {
  return new HyperkubeError('SSH_KEY_NOT_READ', `the key ${path} cannot be used: ${toPrintable(reason)}`, {
    host,
    hint: `ssh-keygen -l -f ${path} says what it is`,
  })
}

/** Builds the error for a handshake that failed because both sides have no algorithm in common. */
export function buildNoCommonAlgorithmError(host: string, hop: Hop, reason: string): HyperkubeError {
  const message = `${formatHopEndpoint(hop)} and we have no algorithm in common: ${toPrintable(reason)}`
  return new HyperkubeError('SSH_KEX', message, {
    host,
    hint: 'set ssh.client to system in cluster.yml, which uses this machine’s own ssh; or let sshd take curve25519-sha256',
  })
}

export function buildUnsupportedSettingError(host: string, hop: Hop, setting: string): HyperkubeError {
  const message = `~/.ssh/config sets ${setting} for ${hop.alias}, which only the ssh program can follow`
  return new HyperkubeError('SSH_CONFIG_SETTING', message, {
    host,
    hint: 'set ssh.client to system in cluster.yml, or ssh.bastion in place of it',
  })
}

export function buildConnectionLostError(host: string, reason: string): HyperkubeError {
  return new HyperkubeError('SSH_LOST', `the connection was lost: ${toPrintable(reason)}`, {
    host,
    hint: 'run the same command again: it goes on where it is',
  })
}
