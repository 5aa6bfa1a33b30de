import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { connect as dial } from 'node:net'

/** The server has responded with an error status. */
export class GrpcStatusError extends Error {
  readonly status: string

  constructor(status: string, message: string) {
    super(message)
    this.status = status
  }
}

/** Frame with an empty message, because the called methods need no arguments. */
const emptyMessage = Buffer.alloc(5)

/** Maximum response size in bytes, far more than a health response needs. */
const maxResponseBytes = 2 ** 20

/**
 * Makes gRPC calls over local sockets. Keeps one connection per endpoint and replaces it after an error or a
 * timeout.
 */
export class GrpcConnections implements Disposable {
  readonly #sessions = new Map<string, ClientHttp2Session>()

  /** Makes a call and returns the response message. `method` has the form /package.Service/Method. */
  async call(endpoint: string, method: string, signal: AbortSignal): Promise<Uint8Array> {
    signal.throwIfAborted()
    const session = this.#session(endpoint)
    try {
      return await sendRequest(session, method, signal)
    } catch (error) {
      if (!(error instanceof GrpcStatusError)) this.#drop(endpoint, session)
      signal.throwIfAborted()
      throw error
    }
  }

  #session(endpoint: string): ClientHttp2Session {
    const known = this.#sessions.get(endpoint)
    if (known !== undefined && !known.closed && !known.destroyed) return known
    const path = toSocketPath(endpoint)
    const session = connect('http://localhost', { createConnection: () => dial(path) })
    // The pending call receives the error. This listener only prevents an uncaught exception.
    session.on('error', () => undefined)
    this.#sessions.set(endpoint, session)
    return session
  }

  #drop(endpoint: string, session: ClientHttp2Session): void {
    session.destroy()
    if (this.#sessions.get(endpoint) === session) this.#sessions.delete(endpoint)
  }

  [Symbol.dispose](): void {
    for (const session of this.#sessions.values()) session.destroy()
    this.#sessions.clear()
  }
}

/**
 * Converts an endpoint to a socket path. Accepts unix:///run/x.sock and, for Windows pipes,
 * npipe:////./pipe/x.
 */
export function toSocketPath(endpoint: string): string {
  const pipe = /^npipe:\/\/\/\/\.\/pipe\/(.+)$/.exec(endpoint)?.[1]
  return pipe === undefined ? endpoint.replace(/^unix:\/\//, '') : `\\\\.\\pipe\\${pipe}`
}

async function sendRequest(
  session: ClientHttp2Session,
  method: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const stream = session.request(
    { ':method': 'POST', ':path': method, 'content-type': 'application/grpc', te: 'trailers' },
    { signal },
  )
  const chunks: Buffer[] = []
  let size = 0
  let statusError: GrpcStatusError | undefined
  const recordStatus = (headers: IncomingHttpHeaders): void => {
    statusError ??= readStatusError(headers)
  }
  // A server that rejects a call at once sends the status in the headers, not in trailers.
  stream.on('response', recordStatus)
  stream.on('trailers', recordStatus)
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxResponseBytes) reject(new Error(`the response is longer than ${maxResponseBytes} bytes`))
    else chunks.push(chunk)
  })
  // The session error contains the reason of a failed connection; stream errors only report that the stream
  // was closed.
  session.once('error', reject)
  stream.on('error', reject)
  // When the stream closes, all data and trailers have arrived.
  stream.on('close', () => (statusError === undefined ? resolve(Buffer.concat(chunks)) : reject(statusError)))
  stream.end(emptyMessage)
  try {
    return parseFrame(Buffer.from(await promise))
  } finally {
    session.off('error', reject)
    stream.destroy()
  }
}

function readStatusError(headers: IncomingHttpHeaders): GrpcStatusError | undefined {
  const status = headers['grpc-status'] ?? '0'
  if (status === '0') return undefined
  const message = decodeMessage(String(headers['grpc-message'] ?? ''))
  return new GrpcStatusError(String(status), message || `it returned gRPC status ${String(status)}`)
}

/** Decodes percent-encoded text. Text that is not valid is returned unchanged, as gRPC requires. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Returns the message in a gRPC frame. A frame has one byte for compression and four bytes for the length
 * before the message.
 */
function parseFrame(frame: Buffer): Uint8Array {
  if (frame.length < 5 || frame[0] !== 0 || frame.length !== 5 + frame.readUInt32BE(1)) {
    throw new Error('the response is not a gRPC message')
  }
  return frame.subarray(5)
}
