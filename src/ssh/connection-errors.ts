import { formatDuration } from '../kit/time-format.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import type { Hop } from './hop.ts'

/** Reason why no ssh connection could be established. */
export type UnreachableReason =
  | { readonly kind: 'refused' | 'no-route' | 'no-name' | 'closed' | 'not-ssh'; readonly after?: number }
  /**
   * `no-response`: the host or bastion sent no packet. `silent`: it accepted the connection but sent no ssh
   * banner. `slow-login`: the login did not complete after the handshake.
   */
  | { readonly kind: 'no-response' | 'silent' | 'slow-login'; readonly after: number }
  | { readonly kind: 'other'; readonly message: string }
  /** The bastion did not open the connection to the next hop on the route. */
  | { readonly kind: 'bastion'; readonly bastion: string; readonly message: string }

/**
 * Builds the error for a host that cannot be reached. `hop` is the machine that failed: the host itself or a
 * bastion on its route.
 */
export function buildUnreachableError(
  host: string,
  hop: Hop,
  reason: UnreachableReason,
  cause?: unknown,
): HyperkubeError {
  const [message, hint] = describeReason(hop, reason)
  return new HyperkubeError('SSH_UNREACHABLE', message, {
    host,
    hint,
    ...(cause === undefined ? {} : { cause }),
  })
}

function describeReason(hop: Hop, reason: UnreachableReason): readonly [message: string, hint: string] {
  const endpoint = formatHopEndpoint(hop)
  switch (reason.kind) {
    case 'refused':
      return [
        `${endpoint} refuses the connection: nothing listens there`,
        'systemctl status ssh sshd on the machine’s own console, or correct ssh.port in cluster.yml',
      ]
    case 'no-response':
      return [
        `${endpoint} does not answer: nothing came back within ${formatDuration(reason.after)}`,
        `it is off, or a firewall drops what we send: ping -c 3 ${hop.address}`,
      ]
    case 'no-route':
      return [
        `there is no way to ${endpoint}: it is off, or in a network that this machine does not reach`,
        `ip route get ${hop.address}`,
      ]
    case 'no-name':
      return [
        `${hop.address} is a name that this machine does not know`,
        `getent hosts ${hop.address}, or correct the address in cluster.yml`,
      ]
    case 'closed':
      return [
        `${endpoint} closed the connection before anybody could log in`,
        'journalctl -u ssh -u sshd on the machine’s own console; too many at once are refused by MaxStartups',
      ]
    case 'not-ssh':
      return [
        `what answers at ${endpoint} does not speak ssh`,
        `ssh-keyscan -p ${hop.port} ${hop.address}, and correct address or ssh.port in cluster.yml`,
      ]
    case 'silent':
      return [
        `${endpoint} takes the connection, but says nothing for ${formatDuration(reason.after)}`,
        `ssh -v ${formatSshTarget(hop)} true shows how far it gets`,
      ]
    case 'slow-login':
      return [
        `the login at ${endpoint} did not end within ${formatDuration(reason.after)}`,
        `ssh -v ${formatSshTarget(hop)} true shows what it waits for: often a resolver, or a key that wants to be touched`,
      ]
    case 'bastion':
      return describeBastionReason(hop, reason)
    default:
      return [
        `${endpoint} cannot be reached: ${toPrintable(reason.message)}`,
        `ssh -v ${formatSshTarget(hop)} true`,
      ]
  }
}

function describeBastionReason(
  hop: Hop,
  { bastion, message: problem }: { readonly bastion: string; readonly message: string },
): readonly [message: string, hint: string] {
  if (/administratively prohibited/i.test(problem)) {
    return [
      `the bastion ${bastion} forbids connections through it`,
      'set AllowTcpForwarding yes in its sshd_config, or name another bastion',
    ]
  }
  return [
    `the bastion ${bastion} cannot reach ${formatHopEndpoint(hop)}: ${toPrintable(problem)}`,
    `ssh ${bastion}, and from there: ssh-keyscan -p ${hop.port} ${hop.address}`,
  ]
}

/** Converts a system error of a connection attempt to a reason. */
export function toUnreachableReason(error: unknown, after: number): UnreachableReason {
  // An AggregateError contains one error for each address of the host name.
  const errors: readonly unknown[] = error instanceof AggregateError ? [error, ...error.errors] : [error]
  const known = Object.entries(kindByErrorCode).find(([code]) => errors.some((one) => hasCode(one, code)))
  if (known !== undefined) return { kind: known[1], after }
  return { kind: 'other', message: error instanceof Error ? error.message : String(error) }
}

const kindByErrorCode = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'no-response',
  EHOSTUNREACH: 'no-route',
  ENETUNREACH: 'no-route',
  EHOSTDOWN: 'no-route',
  ENOTFOUND: 'no-name',
  EAI_AGAIN: 'no-name',
  EAI_NONAME: 'no-name',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
} as const

export function formatHopEndpoint({ address, port }: Hop): string {
  return `${address} port ${port}`
}

/** Formats the destination arguments of an ssh command, for hints in error messages. */
function formatSshTarget({ user, address, port }: Hop): string {
  return `${port === 22 ? '' : `-p ${port} `}${user}@${address}`
}

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

/** Builds the error for a handshake that failed because client and server have no algorithm in common. */
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
