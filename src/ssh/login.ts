import type { Duplex } from 'node:stream'
import ssh2 from 'ssh2'
import type { Algorithms, AuthenticationType, Client, NextAuthHandler } from 'ssh2'
import type { HyperkubeError } from '../kit/errors.ts'
import { gatherCredentials, type SshCredentials } from './credentials.ts'
import { startDeadline, waitUnlessAborted } from './deadline.ts'
import type { Hop } from './hop.ts'
import { formatHostKey, hostKeyAlgorithms } from './host-key-format.ts'
import {
  buildConnectionLostError,
  buildKeyNotReadError,
  buildNoCommonAlgorithmError,
  buildNotAcceptedError,
  buildTooManyKeysError,
  buildUnreachableError,
  toUnreachableReason,
} from './connection-errors.ts'
import type { ConnectSettings } from './options.ts'

/** An authenticated ssh connection. */
export interface SshLink {
  readonly client: Client
  /** Aborted with SSH_LOST when either side ends the connection. */
  readonly lost: AbortSignal
}

/** Logs in over a socket: verifies the host key, then offers the operator's keys. */
export async function logIn(hop: Hop, socket: Duplex, settings: ConnectSettings): Promise<SshLink> {
  const { host, timeout, signal, keepalive, likely } = settings
  const progress: LoginProgress = {
    offered: [],
    methods: [],
    partial: false,
    handshakeDone: false,
    refusal: undefined,
  }
  const tooSlow = (): Error =>
    buildUnreachableError(host, hop, {
      kind: progress.handshakeDone ? 'slow-login' : 'silent',
      after: timeout,
    })
  const deadline = startDeadline(signal, timeout, tooSlow)
  const client = new ssh2.Client()
  const lost = watchForLoss(client, host)
  try {
    const credentials = await gatherCredentials(hop, settings.agent, deadline.signal)
    const [broken] = credentials.broken
    if (broken !== undefined) throw buildKeyNotReadError(host, broken.path, broken.why)
    // The socket may have been closed while the keys were read.
    if (!socket.writable) throw buildUnreachableError(host, hop, { kind: 'closed' })
    await waitUnlessAborted<void>([deadline.signal], ({ succeed, fail }) => {
      client
        .on('handshake', () => (progress.handshakeDone = true))
        .on('ready', succeed)
        .on('error', (error) => {
          const failure = explainLoginError(error, { hop, host, credentials, progress })
          if (failure !== undefined) fail(failure)
        })
        .on('close', () => fail(buildUnreachableError(host, hop, { kind: 'closed' })))
        .connect({
          sock: socket,
          username: hop.user,
          readyTimeout: 0,
          keepaliveInterval: keepalive.interval,
          keepaliveCountMax: keepalive.count,
          algorithms: algorithms(likely(hop)),
          hostVerifier: (key: Buffer, reply: (valid: boolean) => void) => {
            // The connection may end before the key is verified, so errors of the reply are ignored.
            verifyHostKey(key, hop, settings, progress)
              .then(reply)
              .catch(() => undefined)
          },
          authHandler: offerInTurn(hop, credentials, progress),
        })
    })
    return { client, lost }
  } catch (error) {
    client.destroy()
    socket.destroy()
    throw error
  } finally {
    deadline.clear()
  }
}

/**
 * Returns the accepted algorithms, without SHA-1. AES-GCM comes first, because Node implements it natively
 * and the others are slower.
 */
function algorithms(likelyKeys: readonly string[]): Algorithms {
  return {
    serverHostKey: hostKeyAlgorithms(likelyKeys),
    cipher: [
      'aes128-gcm@openssh.com',
      'aes256-gcm@openssh.com',
      'chacha20-poly1305@openssh.com',
      'aes256-ctr',
      'aes192-ctr',
      'aes128-ctr',
    ],
    hmac: [
      'hmac-sha2-256-etm@openssh.com',
      'hmac-sha2-512-etm@openssh.com',
      'hmac-sha2-256',
      'hmac-sha2-512',
    ],
    compress: ['none'],
  }
}

async function verifyHostKey(
  key: Buffer,
  hop: Hop,
  { verify, pinned }: ConnectSettings,
  progress: LoginProgress,
): Promise<boolean> {
  const text = formatHostKey(key)
  try {
    if (!pinned(hop).includes(text)) await verify(text, hop)
    return true
  } catch (error) {
    progress.refusal = { error }
    return false
  }
}

type OfferInTurn = (
  methods: AuthenticationType[] | null,
  partial: boolean | null,
  next: NextAuthHandler,
) => false | undefined

/**
 * Tries the authentication method `none` first, because the server's refusal lists the methods that it
 * offers. Then offers one key after the other.
 */
function offerInTurn(hop: Hop, { offers }: SshCredentials, progress: LoginProgress): OfferInTurn {
  const remaining = [...offers]
  return (methods, partial, next) => {
    // `methods` is null before the first attempt.
    if (methods === null) {
      next({ type: 'none', username: hop.user })
      return undefined
    }
    progress.methods = methods
    progress.partial ||= partial === true
    const offer = progress.partial || !methods.includes('publickey') ? undefined : remaining.shift()
    if (offer === undefined) return false
    progress.offered.push(offer.label)
    next(offer.method)
    return undefined
  }
}

/**
 * Returns a signal that is aborted when the connection is lost. The abort reason is an SSH_LOST error with
 * the first cause that is known.
 */
function watchForLoss(client: Client, host: string): AbortSignal {
  const lost = new AbortController()
  client.on('error', (error) => {
    const reason = explainLoss(error)
    if (reason !== undefined) lost.abort(buildConnectionLostError(host, reason))
  })
  client.on('close', () => lost.abort(buildConnectionLostError(host, 'closed')))
  return lost.signal
}

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

/**
 * Converts an error of the ssh library to an error for the operator. Returns undefined if the login
 * continues.
 */
export function explainLoginError(error: Error, attempt: Attempt): unknown {
  const { host, hop, credentials, progress } = attempt
  if (progress.refusal !== undefined) return progress.refusal.error
  const words = error.message
  if (words.startsWith('Too many authentication failures'))
    return buildTooManyKeysError(host, hop, progress.offered)
  switch (readLevel(error)) {
    // The ssh agent did not respond, or a key could not sign. The next key may work.
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

/**
 * Returns why an established connection was lost. Returns undefined if the error did not end the connection.
 */
export function explainLoss(error: Error): string | undefined {
  switch (readLevel(error)) {
    case 'agent':
      return undefined
    case 'client-timeout':
      return 'the host no longer responds'
    default:
      return error.message
  }
}

function readLevel(error: Error): string | undefined {
  return 'level' in error && typeof error.level === 'string' ? error.level : undefined
}
