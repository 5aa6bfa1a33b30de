import { formatDuration } from '../kit/time-format.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import type { Hop } from './hop.ts'

/** Reason why no ssh connection could be established. */
export type UnreachableReason =
  | { readonly kind: 'refused' | 'no-route' | 'no-name' | 'closed' | 'not-ssh'; readonly after?: number }
  /**
   * `no-response`: the host or bastion sent no packet. `silent`: the host or bastion accepted the connection
   * but sent no ssh banner. `slow-login`: the login did not complete after the handshake.
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
        'on the console of the host: systemctl status ssh sshd; or correct ssh.port in cluster.yml',
      ]
    case 'no-response':
      return [
        `${endpoint} does not respond within ${formatDuration(reason.after)}`,
        `the host is off, or a firewall drops packets: ping -c 3 ${hop.address}`,
      ]
    case 'no-route':
      return [
        `no route to ${endpoint}: the host is off, or this machine cannot reach its network`,
        `ip route get ${hop.address}`,
      ]
    case 'no-name':
      return [
        `this machine cannot resolve the name ${hop.address}`,
        `getent hosts ${hop.address}, or correct the address in cluster.yml`,
      ]
    case 'closed':
      return [
        `${endpoint} closed the connection before the login`,
        'on the console of the host: journalctl -u ssh -u sshd; sshd refuses connections beyond MaxStartups',
      ]
    case 'not-ssh':
      return [
        `the server at ${endpoint} does not speak ssh`,
        `check the server: ssh-keyscan -p ${hop.port} ${hop.address}; or correct address or ssh.port in cluster.yml`,
      ]
    case 'silent':
      return [
        `${endpoint} accepts the connection, but sends nothing for ${formatDuration(reason.after)}`,
        `find the cause: ssh -v ${formatSshTarget(hop)} true`,
      ]
    case 'slow-login':
      return [
        `the login at ${endpoint} did not complete within ${formatDuration(reason.after)}`,
        `find the cause: ssh -v ${formatSshTarget(hop)} true; often a slow DNS resolver, or a hardware key that waits for a touch`,
      ]
    case 'bastion':
      return describeBastionReason(hop, reason)
    default:
      return [
        `cannot connect to ${endpoint}: ${toPrintable(reason.message)}`,
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
      `the bastion ${bastion} forbids TCP forwarding`,
      'set AllowTcpForwarding yes in its sshd_config, or set another ssh.bastion in cluster.yml',
    ]
  }
  return [
    `the bastion ${bastion} cannot reach ${formatHopEndpoint(hop)}: ${toPrintable(problem)}`,
    `on ${bastion}: ssh-keyscan -p ${hop.port} ${hop.address}`,
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
    const message = `${login} requires more than a key: ${offeredMethods}`
    return buildNoKeyAcceptedError(
      message,
      host,
      'allow a key alone for this user: AuthenticationMethods publickey in sshd_config',
    )
  }
  if (methods.length > 0 && !methods.includes('publickey')) {
    const message = `${login} accepts no keys, only ${offeredMethods}`
    return buildNoKeyAcceptedError(
      message,
      host,
      'set PubkeyAuthentication yes in its sshd_config; hyperkube never uses passwords for ssh',
    )
  }
  const [first] = encrypted
  if (first !== undefined) {
    const message = `the key ${first} has a passphrase, and the ssh agent does not hold the key`
    return new HyperkubeError('SSH_KEY_ENCRYPTED', message, { host, hint: `ssh-add ${first}` })
  }
  if (offered.length === 0) {
    const message = `no key to offer to ${login}: the ssh agent holds none, and no key file exists`
    return buildNoKeyAcceptedError(
      message,
      host,
      `ssh-keygen -t ed25519, then ssh-copy-id ${formatSshTarget(hop)}`,
    )
  }
  const keys = toPrintable(offered.join(', '))
  const also = methods.length > 1 ? `; it accepts ${offeredMethods}` : ''
  return buildNoKeyAcceptedError(
    `${login} accepts none of the offered keys: ${keys}${also}`,
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
  const message = `${hop.user}@${hop.address} closed the connection after too many keys: ${toPrintable(offered.join(', '))}`
  return buildNoKeyAcceptedError(message, host, 'set the right key in cluster.yml: ssh.key')
}

export function buildKeyNotReadError(host: string, path: string, reason: string): HyperkubeError {
  return new HyperkubeError('SSH_KEY_NOT_READ', `cannot use the key ${path}: ${toPrintable(reason)}`, {
    host,
    hint: `check the file: ssh-keygen -l -f ${path}`,
  })
}

/** Builds the error for a handshake that failed because client and server have no algorithm in common. */
export function buildNoCommonAlgorithmError(host: string, hop: Hop, reason: string): HyperkubeError {
  const message = `${formatHopEndpoint(hop)} and hyperkube have no ssh algorithm in common: ${toPrintable(reason)}`
  return new HyperkubeError('SSH_KEX', message, {
    host,
    hint: 'set ssh.client to system in cluster.yml to use the ssh program of this machine; or enable curve25519-sha256 in sshd',
  })
}

export function buildUnsupportedSettingError(host: string, hop: Hop, setting: string): HyperkubeError {
  const message = `~/.ssh/config sets ${setting} for ${hop.alias}, which only the ssh program supports`
  return new HyperkubeError('SSH_CONFIG_SETTING', message, {
    host,
    hint: 'set ssh.client to system in cluster.yml, or use ssh.bastion instead of this setting',
  })
}

export function buildConnectionLostError(host: string, reason: string): HyperkubeError {
  return new HyperkubeError('SSH_LOST', `the connection was lost: ${toPrintable(reason)}`, {
    host,
    hint: 'run the same command again to resume',
  })
}
