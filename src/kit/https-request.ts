import type { IncomingMessage } from 'node:http'
import { type Agent, request } from 'node:https'
import { TLSSocket } from 'node:tls'
import type { TlsIdentity } from './credentials.ts'
import { hasCode } from './errors.ts'

/** One HTTPS request to one server. */
export interface HttpsRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly agent: Agent
  /** The trusted CA, and the client certificate if the server requires one. */
  readonly identity: Pick<TlsIdentity, 'ca'> & Partial<TlsIdentity>
  readonly timeouts: RequestTimeouts
  readonly signal: AbortSignal
}

export interface RequestTimeouts {
  /** Maximum milliseconds to establish a connection. */
  readonly connectMs: number
  /** Maximum milliseconds from the connection to the start of the response. */
  readonly responseMs: number
}

/**
 * `unreachable`: no connection. `untrusted`: the server certificate is not signed by the trusted CA.
 * `rejected`: the server rejects the client certificate. `silent`: no response. `cut`: the connection was
 * lost before the end of the response. `long`: the response exceeds the size limit.
 */
export type RequestErrorReason = 'unreachable' | 'untrusted' | 'rejected' | 'silent' | 'cut' | 'long'

/** Error of a request that failed without a complete response. */
export class RequestError extends Error {
  readonly reason: RequestErrorReason
  /** True if the server may have received the request and acted on it. */
  readonly sent: boolean

  constructor(reason: RequestErrorReason, sent: boolean, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
    this.sent = sent
  }
}

/** Sends a request. The promise resolves when the response headers arrive. */
export async function sendRequest({
  url,
  body,
  identity,
  timeouts,
  signal,
  ...options
}: HttpsRequest): Promise<IncomingMessage> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    let sent = false
    let timer: NodeJS.Timeout | undefined
    const startTimer = (milliseconds: number, reason: RequestErrorReason, problem: string): void => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        outgoing.destroy(new RequestError(reason, sent, `${problem} within ${milliseconds} ms`))
      }, milliseconds)
    }
    const headers = {
      ...options.headers,
      // Without an explicit content-length, Node sends no content-length for the body of a DELETE.
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    }
    const outgoing = request(url, { ...options, ...identity, headers, signal })
    outgoing.on('socket', (socket) => {
      const onConnected = (): void => {
        sent = true
        startTimer(timeouts.responseMs, 'silent', 'no answer')
      }
      if (!isConnecting(socket)) return onConnected()
      startTimer(timeouts.connectMs, 'unreachable', 'no connection')
      socket.once('secureConnect', onConnected)
    })
    outgoing.on('error', (error) => {
      if (signal.aborted) reject(toAbortError(signal))
      // A retry cannot fix a forbidden SSH forward, and the caller must get the original error.
      else if (hasCode(error, 'SSH_FORWARD_FORBIDDEN')) reject(error)
      else reject(error instanceof RequestError ? error : toRequestError(error, outgoing.socket, sent))
    })
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('response', (response) => {
      clearTimeout(timer)
      resolve(response)
    })
    outgoing.end(body)
  })
}

/**
 * True while the TLS connection is being established; false for a kept-alive connection of an earlier
 * request.
 */
function isConnecting(socket: object): boolean {
  return 'secureConnecting' in socket && socket.secureConnecting === true
}

function toRequestError(error: Error, socket: unknown, sent: boolean): RequestError {
  // Node sets `authorizationError` only if the verification of the server certificate failed.
  const verificationError = socket instanceof TLSSocket ? socket.authorizationError : undefined
  if (verificationError !== undefined && verificationError !== null)
    return new RequestError(
      'untrusted',
      false,
      'its certificate is not signed by the CA of the cluster',
      error,
    )
  const rejected =
    'code' in error && /ALERT_.*(?:CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/.test(String(error.code))
  if (rejected) return new RequestError('rejected', false, 'it rejected the client certificate', error)
  return sent
    ? new RequestError('cut', true, 'the connection was lost', error)
    : new RequestError('unreachable', false, 'no connection', error)
}

/** Reads the whole body of a response and fails if it exceeds `maxBytes`. */
export async function readResponseText(
  response: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > maxBytes)
        throw new RequestError('long', true, `the response is longer than ${maxBytes} bytes`)
      chunks.push(bytes)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof RequestError
      ? error
      : new RequestError('cut', true, 'the response is incomplete', error)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function toAbortError(signal: AbortSignal): Error {
  const reason: unknown = signal.reason
  return reason instanceof Error ? reason : new Error(String(reason))
}
