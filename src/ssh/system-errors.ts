import { HyperkubeError } from '../kit/errors.ts'
import { noCommonAlgorithm, notAccepted, type Refusal, tooManyKeys } from './login-errors.ts'
import type { Hop, Reach } from './ssh-route.ts'
import { type Obstacle, placeOf, unreachable } from './unreachable-error.ts'

/** What the ssh program says, in English, of why there is no connection. */
export function systemFailure(
  stderr: string,
  reach: Reach,
  hop: Hop,
  keys: Pick<Refusal, 'offered' | 'encrypted'>,
  timeout: number,
): HyperkubeError {
  const host = reach.name
  if (/Host key verification failed/.test(stderr)) {
    const message = `${placeOf(hop)} shows another ssh key than the one that is known`
    return new HyperkubeError('SSH_HOST_KEY_CHANGED', message, { host })
  }
  const [, denied] = /Permission denied \(([^)]*)\)/.exec(stderr) ?? []
  if (denied !== undefined) {
    return notAccepted(host, hop, {
      ...keys,
      methods: denied.split(','),
      partial: /with partial success/.test(stderr),
    })
  }
  if (/Too many authentication failures/.test(stderr)) return tooManyKeys(host, hop, keys.offered)
  const [, missing] = /no matching (.*) found/.exec(stderr) ?? []
  if (missing !== undefined) return noCommonAlgorithm(host, hop, `no ${missing}`)
  return unreachable(host, hop, obstacleIn(stderr, reach, timeout))
}

function obstacleIn(stderr: string, { bastions }: Reach, after: number): Obstacle {
  const bastion = bastions.at(-1)
  const [, behind] = /open failed: (.*)/.exec(stderr) ?? []
  if (behind !== undefined && bastion !== undefined) {
    return { kind: 'bastion', bastion: bastion.alias, words: behind.replace('connect failed: ', '') }
  }
  if (/Connection refused/.test(stderr)) return { kind: 'refused' }
  if (/timed out/.test(stderr)) return { kind: 'no-answer', after }
  if (/No route to host|Network is unreachable/.test(stderr)) return { kind: 'no-route' }
  if (/Could not resolve hostname/.test(stderr)) return { kind: 'no-name' }
  if (/Bad remote protocol|banner line contains invalid|Invalid SSH identification/.test(stderr)) {
    return { kind: 'not-ssh' }
  }
  if (/Connection (closed|reset)|kex_exchange_identification/.test(stderr)) return { kind: 'closed' }
  return { kind: 'other', words: lastWords(stderr) }
}

/** The machine on the way that the words are about: ssh mostly names it. */
export function hopIn(stderr: string, reach: Reach): Hop {
  const named = reach.bastions.find(({ address, user }) =>
    [`${user}@${address}: Permission denied`, `connect to host ${address} port`, `hostname ${address}:`].some(
      (words) => stderr.includes(words),
    ),
  )
  return named ?? reach
}

/** The last thing that was said, and not only counted. */
export function lastWords(stderr: string): string {
  const counted = /^(?:Transferred: |Bytes per second: |Authenticated to |Warning: Permanently added )/
  const lines = stderr.split(/\r?\n/).filter((line) => line.trim() !== '' && !counted.test(line))
  return lines.at(-1)?.trim() ?? ''
}
