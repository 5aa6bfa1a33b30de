import type { IncomingMessage } from 'node:http'
import { type Agent, request } from 'node:https'
import { TLSSocket } from 'node:tls'
import type { TlsIdentity } from './credentials.ts'
import { hasCode } from './errors.ts'

/** One question to one server. */
export interface Question {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly agent: Agent
  readonly identity: TlsIdentity
  readonly patience: Patience
  readonly signal: AbortSignal
}

/** In milliseconds. */
export interface Patience {
  /** Until a connection stands. */
  readonly connect: number
  /** From then on, until the answer begins. */
  readonly answer: number
}

/**
 * `unreachable`: no connection; `untrusted`: the server is not one of ours; `rejected`: we are none of its; `silent`: it
 * does not answer; `cut`: the connection ended before the answer did; `long`: the answer does not end.
 */
export type Silence = 'unreachable' | 'untrusted' | 'rejected' | 'silent' | 'cut' | 'long'

/** No answer, or not all of it. */
export class NoAnswer extends Error {
  readonly why: Silence
  /** Whether the server may have got the question, and done what it says. */
  readonly sent: boolean

  constructor(why: Silence, sent: boolean, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.why = why
    this.sent = sent
  }
}

/** Settles as soon as the answer begins. */
export async function ask({
  url,
  body,
  identity,
  patience,
  signal,
  ...options
}: Question): Promise<IncomingMessage> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    let sent = false
    let timer: NodeJS.Timeout | undefined
    const within = (milliseconds: number, why: Silence, what: string): void => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        outgoing.destroy(new NoAnswer(why, sent, `${what} within ${milliseconds} ms`))
      }, milliseconds)
    }
    const headers = {
      ...options.headers,
      // Otherwise a DELETE's body would have no length.
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    }
    const outgoing = request(url, { ...options, ...identity, headers, signal })
    outgoing.on('socket', (socket) => {
      const standing = (): void => {
        sent = true
        within(patience.answer, 'silent', 'no answer')
      }
      if (!isConnecting(socket)) return standing()
      within(patience.connect, 'unreachable', 'no connection')
      socket.once('secureConnect', standing)
    })
    outgoing.on('error', (error) => {
      if (signal.aborted) reject(reasonOf(signal))
      // No other attempt would mend it, and whoever waits for a server has to be told.
      else if (hasCode(error, 'SSH_FORWARD_FORBIDDEN')) reject(error)
      else reject(error instanceof NoAnswer ? error : noAnswer(error, outgoing.socket, sent))
    })
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('response', (response) => {
      clearTimeout(timer)
      resolve(response)
    })
    outgoing.end(body)
  })
}

/** Not so for one that was kept from an earlier question. */
function isConnecting(socket: object): boolean {
  return 'secureConnecting' in socket && socket.secureConnecting === true
}

function noAnswer(error: Error, socket: unknown, sent: boolean): NoAnswer {
  // Set when the server's certificate was looked at and not taken.
  const doubt = socket instanceof TLSSocket ? socket.authorizationError : undefined
  if (doubt !== undefined && doubt !== null)
    return new NoAnswer('untrusted', false, 'is not one of ours', error)
  const rejected =
    'code' in error && /ALERT_.*(?:CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/.test(String(error.code))
  if (rejected) return new NoAnswer('rejected', false, 'does not take our certificate', error)
  return sent
    ? new NoAnswer('cut', true, 'the connection was cut', error)
    : new NoAnswer('unreachable', false, 'no connection', error)
}

/** All of an answer that has begun. */
export async function readText(
  response: IncomingMessage,
  limit: number,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > limit) throw new NoAnswer('long', true, `the answer is longer than ${limit} bytes`)
      chunks.push(bytes)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof NoAnswer ? error : new NoAnswer('cut', true, 'the answer was cut', error)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason
  return reason instanceof Error ? reason : new Error(String(reason))
}
