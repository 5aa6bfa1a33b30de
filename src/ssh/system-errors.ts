import { HyperkubeError } from '../kit/errors.ts'
import {
  buildNoCommonAlgorithmError,
  buildNotAcceptedError,
  type LoginRefusal,
  buildTooManyKeysError,
} from './login-errors.ts'
import type { SshRoute } from './ssh-route.ts'
import type { Hop } from './hop.ts'
import { type UnreachableReason, formatHopEndpoint, buildUnreachableError } from './unreachable-error.ts'

/** Converts the English messages of the ssh program about a failed connection to an error. */
export function explainSystemError(
  stderr: string,
  reach: SshRoute,
  hop: Hop,
  keys: Pick<LoginRefusal, 'offered' | 'encrypted'>,
  timeout: number,
): HyperkubeError {
  const host = reach.name
  if (/Host key verification failed/.test(stderr)) {
    const message = `${formatHopEndpoint(hop)} shows another ssh key than the one that is known`
    return new HyperkubeError('SSH_HOST_KEY_CHANGED', message, { host })
  }
  const [, denied] = /Permission denied \(([^)]*)\)/.exec(stderr) ?? []
  if (denied !== undefined) {
    return buildNotAcceptedError(host, hop, {
      ...keys,
      methods: denied.split(','),
      partial: /with partial success/.test(stderr),
    })
  }
  if (/Too many authentication failures/.test(stderr)) return buildTooManyKeysError(host, hop, keys.offered)
  const [, missing] = /no matching (.*) found/.exec(stderr) ?? []
  if (missing !== undefined) return buildNoCommonAlgorithmError(host, hop, `no ${missing}`)
  return buildUnreachableError(host, hop, parseReason(stderr, reach, timeout))
}

function parseReason(stderr: string, { bastions }: SshRoute, after: number): UnreachableReason {
  const bastion = bastions.at(-1)
  const [, openFailure] = /open failed: (.*)/.exec(stderr) ?? []
  if (openFailure !== undefined && bastion !== undefined) {
    return { kind: 'bastion', bastion: bastion.alias, message: openFailure.replace('connect failed: ', '') }
  }
  if (/Connection refused/.test(stderr)) return { kind: 'refused' }
  if (/timed out/.test(stderr)) return { kind: 'no-response', after }
  if (/No route to host|Network is unreachable/.test(stderr)) return { kind: 'no-route' }
  if (/Could not resolve hostname/.test(stderr)) return { kind: 'no-name' }
  if (/Bad remote protocol|banner line contains invalid|Invalid SSH identification/.test(stderr)) {
    return { kind: 'not-ssh' }
  }
  if (/Connection (closed|reset)|kex_exchange_identification/.test(stderr)) return { kind: 'closed' }
  return { kind: 'other', message: readLastMessage(stderr) }
}

/** Finds the machine on the route that the message is about. If no bastion is named, it is the host. */
export function findHop(stderr: string, reach: SshRoute): Hop {
  const named = reach.bastions.find(({ address, user }) =>
    [`${user}@${address}: Permission denied`, `connect to host ${address} port`, `hostname ${address}:`].some(
      (words) => stderr.includes(words),
    ),
  )
  return named ?? reach
}

/** Returns the last line that is not a statistic or notice of ssh. */
export function readLastMessage(stderr: string): string {
  const statistics = /^(?:Transferred: |Bytes per second: |Authenticated to |Warning: Permanently added )/
  const lines = stderr.split(/\r?\n/).filter((line) => line.trim() !== '' && !statistics.test(line))
  return lines.at(-1)?.trim() ?? ''
}
