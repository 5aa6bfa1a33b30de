import type { HyperkubeError } from '../kit/errors.ts'
import type { SshCredentials } from './credentials.ts'
import { buildNoCommonAlgorithmError, buildNotAcceptedError, buildTooManyKeysError } from './login-errors.ts'
import type { Hop } from './hop.ts'
import { toUnreachableReason, buildUnreachableError } from './unreachable-error.ts'

/** Progress of a login, updated while it runs. */
export interface LoginProgress {
  handshakeDone: boolean
  /** Error from the verification of the host key. */
  refusal: { readonly error: unknown } | undefined
  methods: readonly string[]
  partial: boolean
  readonly offered: string[]
}

interface Attempt {
  readonly host: string
  readonly hop: Hop
  readonly credentials: Pick<SshCredentials, 'encrypted'>
  readonly progress: LoginProgress
}

/** Converts an error of the ssh library. Returns undefined if the login continues. */
export function explainLoginError(error: Error, attempt: Attempt): unknown {
  const { host, hop, credentials, progress } = attempt
  if (progress.refusal !== undefined) return progress.refusal.error
  const words = error.message
  if (words.startsWith('Too many authentication failures'))
    return buildTooManyKeysError(host, hop, progress.offered)
  switch (readLevel(error)) {
    // The agent did not respond, or a key could not sign. The next key may work.
    case 'agent':
      return undefined
    case 'client-authentication':
      if (!words.startsWith('All configured authentication methods failed')) return undefined
      return buildNotAcceptedError(host, hop, { ...progress, encrypted: credentials.encrypted })
    case 'handshake':
      return explainHandshakeError(host, hop, words)
    case 'protocol':
      return buildUnreachableError(host, hop, {
        kind: /lost before handshake/.test(words) ? 'closed' : 'not-ssh',
      })
    case 'client-socket':
      return buildUnreachableError(host, hop, toUnreachableReason(error, 0))
    default:
      return /identification string|too long/i.test(words)
        ? buildUnreachableError(host, hop, { kind: 'not-ssh' })
        : buildUnreachableError(host, hop, { kind: 'other', message: words })
  }
}

function explainHandshakeError(host: string, hop: Hop, words: string): HyperkubeError {
  const [, missing] = /no matching (.*)$/.exec(words) ?? []
  return missing === undefined
    ? buildUnreachableError(host, hop, { kind: 'other', message: words })
    : buildNoCommonAlgorithmError(host, hop, `no ${missing}`)
}

/** Returns why an established connection was lost. Returns undefined if the error did not end it. */
export function explainLoss(error: Error): string | undefined {
  switch (readLevel(error)) {
    case 'agent':
      return undefined
    case 'client-timeout':
      return 'the host has stopped answering'
    default:
      return error.message
  }
}

function readLevel(error: Error): string | undefined {
  return 'level' in error && typeof error.level === 'string' ? error.level : undefined
}
