import { duration } from '../kit/duration.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'
import type { Hop } from './ssh-route.ts'

/** Why no ssh could be spoken. */
export type Obstacle =
  | { readonly kind: 'refused' | 'no-route' | 'no-name' | 'closed' | 'not-ssh'; readonly after?: number }
  /** Nothing came back; taken, but no greeting; greeted, but no end of the login. */
  | { readonly kind: 'no-answer' | 'silent' | 'slow-login'; readonly after: number }
  | { readonly kind: 'other'; readonly words: string }
  /** The bastion before it could not, or would not, open the way. */
  | { readonly kind: 'bastion'; readonly bastion: string; readonly words: string }

/** `host` is the one that somebody wants to reach; what does not answer may be a bastion on the way. */
export function unreachable(host: string, hop: Hop, obstacle: Obstacle, cause?: unknown): HyperkubeError {
  const [message, hint] = words(hop, obstacle)
  return new HyperkubeError('SSH_UNREACHABLE', message, {
    host,
    hint,
    ...(cause === undefined ? {} : { cause }),
  })
}

function words(hop: Hop, obstacle: Obstacle): readonly [message: string, hint: string] {
  const place = placeOf(hop)
  switch (obstacle.kind) {
    case 'refused':
      return [
        `${place} refuses the connection: nothing listens there`,
        'systemctl status ssh sshd on the machine’s own console, or mend ssh.port in cluster.yml',
      ]
    case 'no-answer':
      return [
        `${place} does not answer: nothing came back within ${duration(obstacle.after)}`,
        `it is off, or a firewall drops what we send: ping -c 3 ${hop.address}`,
      ]
    case 'no-route':
      return [
        `there is no way to ${place}: it is off, or in a network that this machine does not reach`,
        `ip route get ${hop.address}`,
      ]
    case 'no-name':
      return [
        `${hop.address} is a name that this machine does not know`,
        `getent hosts ${hop.address}, or mend the address in cluster.yml`,
      ]
    case 'closed':
      return [
        `${place} closed the connection before anybody could log in`,
        'journalctl -u ssh -u sshd on the machine’s own console; too many at once are refused by MaxStartups',
      ]
    case 'not-ssh':
      return [
        `what answers at ${place} does not speak ssh`,
        `ssh-keyscan -p ${hop.port} ${hop.address}, and mend address or ssh.port in cluster.yml`,
      ]
    case 'silent':
      return [
        `${place} takes the connection, but says nothing for ${duration(obstacle.after)}`,
        `ssh -v ${target(hop)} true shows how far it gets`,
      ]
    case 'slow-login':
      return [
        `the login at ${place} did not end within ${duration(obstacle.after)}`,
        `ssh -v ${target(hop)} true shows what it waits for: often a resolver, or a key that wants to be touched`,
      ]
    case 'bastion':
      return bastionWords(hop, obstacle)
    default:
      return [`${place} cannot be reached: ${printable(obstacle.words)}`, `ssh -v ${target(hop)} true`]
  }
}

function bastionWords(
  hop: Hop,
  { bastion, words: said }: { readonly bastion: string; readonly words: string },
): readonly [message: string, hint: string] {
  if (/administratively prohibited/i.test(said)) {
    return [
      `the bastion ${bastion} lets nobody through`,
      'set AllowTcpForwarding yes in its sshd_config, or name another bastion',
    ]
  }
  return [
    `the bastion ${bastion} cannot reach ${placeOf(hop)}: ${printable(said)}`,
    `ssh ${bastion}, and from there: ssh-keyscan -p ${hop.port} ${hop.address}`,
  ]
}

/** What the system said when a connection could not be made. */
export function obstacleOf(error: unknown, after: number): Obstacle {
  // Several addresses of one name were tried, each with its own end.
  const errors: readonly unknown[] = error instanceof AggregateError ? [error, ...error.errors] : [error]
  const known = Object.entries(codes).find(([code]) => errors.some((one) => hasCode(one, code)))
  if (known !== undefined) return { kind: known[1], after }
  return { kind: 'other', words: error instanceof Error ? error.message : String(error) }
}

const codes = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'no-answer',
  EHOSTUNREACH: 'no-route',
  ENETUNREACH: 'no-route',
  EHOSTDOWN: 'no-route',
  ENOTFOUND: 'no-name',
  EAI_AGAIN: 'no-name',
  EAI_NONAME: 'no-name',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
} as const

export function placeOf({ address, port }: Hop): string {
  return `${address} port ${port}`
}

/** What to type to get there. */
export function target({ user, address, port }: Hop): string {
  return `${port === 22 ? '' : `-p ${port} `}${user}@${address}`
}
