import type { HyperkubeError } from '../kit/errors.ts'
import type { Credentials } from './credentials.ts'
import { noCommonAlgorithm, notAccepted, tooManyKeys } from './login-errors.ts'
import type { Hop } from './ssh-route.ts'
import { obstacleOf, unreachable } from './unreachable-error.ts'

/** How far a login has come; kept up to date while it goes on. */
export interface Progress {
  greeted: boolean
  /** What was thrown about the machine's key. */
  refusal: { readonly error: unknown } | undefined
  methods: readonly string[]
  partial: boolean
  readonly offered: string[]
}

interface Attempt {
  readonly host: string
  readonly hop: Hop
  readonly credentials: Pick<Credentials, 'encrypted'>
  readonly progress: Progress
}

/** What the library's error means; undefined when it goes on with something else. */
export function loginFailure(error: Error, attempt: Attempt): unknown {
  const { host, hop, credentials, progress } = attempt
  if (progress.refusal !== undefined) return progress.refusal.error
  const words = error.message
  if (words.startsWith('Too many authentication failures')) return tooManyKeys(host, hop, progress.offered)
  switch (levelOf(error)) {
    // An agent that does not answer, a key that cannot sign: the next one may do.
    case 'agent':
      return undefined
    case 'client-authentication':
      if (!words.startsWith('All configured authentication methods failed')) return undefined
      return notAccepted(host, hop, { ...progress, encrypted: credentials.encrypted })
    case 'handshake':
      return handshakeFailure(host, hop, words)
    case 'protocol':
      return unreachable(host, hop, { kind: /lost before handshake/.test(words) ? 'closed' : 'not-ssh' })
    case 'client-socket':
      return unreachable(host, hop, obstacleOf(error, 0))
    default:
      return /identification string|too long/i.test(words)
        ? unreachable(host, hop, { kind: 'not-ssh' })
        : unreachable(host, hop, { kind: 'other', words })
  }
}

function handshakeFailure(host: string, hop: Hop, words: string): HyperkubeError {
  const [, missing] = /no matching (.*)$/.exec(words) ?? []
  return missing === undefined
    ? unreachable(host, hop, { kind: 'other', words })
    : noCommonAlgorithm(host, hop, `no ${missing}`)
}

/** Why a connection that stood is gone; undefined when it still stands. */
export function lossOf(error: Error): string | undefined {
  switch (levelOf(error)) {
    case 'agent':
      return undefined
    case 'client-timeout':
      return 'the host has stopped answering'
    default:
      return error.message
  }
}

function levelOf(error: Error): string | undefined {
  return 'level' in error && typeof error.level === 'string' ? error.level : undefined
}
