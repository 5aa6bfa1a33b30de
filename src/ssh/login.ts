import type { Duplex } from 'node:stream'
import ssh2, { type Algorithms, type AuthenticationType, type Client, type NextAuthHandler } from 'ssh2'
import { type Credentials, gatherCredentials } from './credentials.ts'
import { hostKeyAlgorithms, hostKeyText } from './host-key-format.ts'
import { connectionLost, keyNotRead } from './login-errors.ts'
import { loginFailure, lossOf, type Progress } from './explain-login-error.ts'
import type { Settings } from './options.ts'
import type { Hop } from './ssh-route.ts'
import { unreachable } from './unreachable-error.ts'
import { expiring, unlessAborted } from './deadline.ts'

/** A machine that we are logged in to. */
export interface Link {
  readonly client: Client
  /** Aborts with SSH_LOST when the connection ends, whoever ends it. */
  readonly lost: AbortSignal
}

/** From a socket to a login: the machine shows its key, then we show ours. */
export async function logIn(hop: Hop, socket: Duplex, settings: Settings): Promise<Link> {
  const { host, timeout, signal, keepalive, pinned } = settings
  const progress: Progress = { offered: [], methods: [], partial: false, greeted: false, refusal: undefined }
  const tooSlow = (): Error =>
    unreachable(host, hop, { kind: progress.greeted ? 'slow-login' : 'silent', after: timeout })
  const limit = expiring(signal, timeout, tooSlow)
  const client = new ssh2.Client()
  const lost = watch(client, host)
  try {
    const credentials = await gatherCredentials(hop, settings.agent, limit.signal)
    const [broken] = credentials.broken
    if (broken !== undefined) throw keyNotRead(host, broken.path, broken.why)
    // It may have been closed while keys were read, and nobody saw it.
    if (!socket.writable) throw unreachable(host, hop, { kind: 'closed' })
    await unlessAborted<void>([limit.signal], ({ succeed, fail }) => {
      client
        .on('handshake', () => (progress.greeted = true))
        .on('ready', succeed)
        .on('error', (error) => {
          const failure = loginFailure(error, { hop, host, credentials, progress })
          if (failure !== undefined) fail(failure)
        })
        .on('close', () => fail(unreachable(host, hop, { kind: 'closed' })))
        .connect({
          sock: socket,
          username: hop.user,
          readyTimeout: 0,
          keepaliveInterval: keepalive.interval,
          keepaliveCountMax: keepalive.count,
          algorithms: algorithms(pinned(hop)),
          hostVerifier: (key: Buffer, answer: (valid: boolean) => void) => {
            // Nobody may be there any more to take the answer.
            judge(key, hop, settings, progress)
              .then(answer)
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
    limit.clear()
  }
}

/** AES-GCM first: it is Node's own, all else is slower here. Nothing with SHA-1. */
function algorithms(pinned: readonly string[]): Algorithms {
  return {
    serverHostKey: hostKeyAlgorithms(pinned),
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

async function judge(
  key: Buffer,
  hop: Hop,
  { verify, pinned }: Settings,
  progress: Progress,
): Promise<boolean> {
  const text = hostKeyText(key)
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

/** First nothing, to hear what the machine takes; then key after key, as long as it takes keys. */
function offerInTurn(hop: Hop, { offers }: Credentials, progress: Progress): OfferInTurn {
  const left = [...offers]
  return (methods, partial, next) => {
    // Before the first attempt there is nothing to be told.
    if (methods === null) {
      next({ type: 'none', username: hop.user })
      return undefined
    }
    progress.methods = methods
    progress.partial ||= partial === true
    const offer = progress.partial || !methods.includes('publickey') ? undefined : left.shift()
    if (offer === undefined) return false
    progress.offered.push(offer.label)
    next(offer.method)
    return undefined
  }
}

/** The first thing that goes wrong says why; without one it was just closed. */
function watch(client: Client, host: string): AbortSignal {
  const lost = new AbortController()
  client.on('error', (error) => {
    const why = lossOf(error)
    if (why !== undefined) lost.abort(connectionLost(host, why))
  })
  client.on('close', () => lost.abort(connectionLost(host, 'it was closed')))
  return lost.signal
}
