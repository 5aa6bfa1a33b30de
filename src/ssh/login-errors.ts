import { HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'
import type { Hop } from './ssh-route.ts'
import { placeOf, target } from './unreachable-error.ts'

/** What was tried at a host that let nobody in. */
export interface Refusal {
  /** Keys as a person knows them: file or comment, and fingerprint. */
  readonly offered: readonly string[]
  /** Key files that want a passphrase. */
  readonly encrypted: readonly string[]
  /** Ways to log in that the host names. */
  readonly methods: readonly string[]
  /** A key was right, and not enough. */
  readonly partial: boolean
}

export function notAccepted(host: string, hop: Hop, refusal: Refusal): HyperkubeError {
  const { offered, encrypted, methods, partial } = refusal
  const who = `${hop.user}@${hop.address}`
  const takes = printable(methods.join(', '))
  if (partial) {
    const message = `${who} wants more than a key: ${takes}`
    return refused(message, host, 'let a key be enough for this user: AuthenticationMethods in sshd_config')
  }
  if (methods.length > 0 && !methods.includes('publickey')) {
    const message = `${who} takes no keys, only ${takes}`
    return refused(
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
    const message = `there is no key to offer to ${who}: the ssh agent holds none, and no key file is there`
    return refused(message, host, `ssh-keygen -t ed25519, then ssh-copy-id ${target(hop)}`)
  }
  const keys = printable(offered.join(', '))
  const also = methods.length > 1 ? `; it takes ${takes}` : ''
  return refused(`${who} takes none of our keys: ${keys}${also}`, host, `ssh-copy-id ${target(hop)}`)
}

function refused(message: string, host: string, hint: string): HyperkubeError {
  return new HyperkubeError('SSH_NO_KEY_ACCEPTED', message, { host, hint })
}

/** The host hangs up after some keys, by MaxAuthTries; the right one may be among those that were left. */
export function tooManyKeys(host: string, hop: Hop, offered: readonly string[]): HyperkubeError {
  const message = `${hop.user}@${hop.address} hung up after too many keys: ${printable(offered.join(', '))}`
  return refused(message, host, 'name the right one in cluster.yml: ssh.key')
}

export function keyNotRead(host: string, path: string, why: string): HyperkubeError {
  return new HyperkubeError('SSH_KEY_NOT_READ', `the key ${path} cannot be used: ${printable(why)}`, {
    host,
    hint: `ssh-keygen -l -f ${path} says what it is`,
  })
}

/** Both sides speak ssh, and have no algorithm in common. */
export function noCommonAlgorithm(host: string, hop: Hop, words: string): HyperkubeError {
  const message = `${placeOf(hop)} and we have no algorithm in common: ${printable(words)}`
  return new HyperkubeError('SSH_KEX', message, {
    host,
    hint: 'set ssh.client to system in cluster.yml, which uses this machine’s own ssh; or let sshd take curve25519-sha256',
  })
}

export function programOnly(host: string, hop: Hop, setting: string): HyperkubeError {
  const message = `~/.ssh/config sets ${setting} for ${hop.alias}, which only the ssh program can follow`
  return new HyperkubeError('SSH_CONFIG_SETTING', message, {
    host,
    hint: 'set ssh.client to system in cluster.yml, or ssh.bastion in place of it',
  })
}

export function connectionLost(host: string, why: string): HyperkubeError {
  return new HyperkubeError('SSH_LOST', `the connection was lost: ${printable(why)}`, {
    host,
    hint: 'run the same command again: it goes on where it is',
  })
}
