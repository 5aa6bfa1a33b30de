import { formatDuration } from '../kit/duration.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/printable.ts'
import type { Hop } from './hop.ts'

/** Reason why no ssh connection could be established. */
export type UnreachableReason =
  | { readonly kind: 'refused' | 'no-route' | 'no-name' | 'closed' | 'not-ssh'; readonly after?: number }
  /**
   * `no-response`: the machine sent no packet. `silent`: it accepted the connection but sent no ssh banner.
   * `slow-login`: the login did not complete after the handshake.
   */
  | { readonly kind: 'no-response' | 'silent' | 'slow-login'; readonly after: number }
  | { readonly kind: 'other'; readonly message: string }
  /** The bastion did not open the connection to the machine. */
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

/** Formats the arguments of an ssh command for hints. */
export function formatSshTarget({ user, address, port }: Hop): string {
  return `${port === 22 ? '' : `-p ${port} `}${user}@${address}`
}
