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

/** An empty message is the whole request: the method needs no arguments. */
const emptyMessage = Buffer.alloc(5)

/** No health response is larger. */
const maxResponseBytes = 2 ** 20

/**
 * Makes gRPC calls over local sockets. Keeps one connection per endpoint; a connection that failed or timed
 * out is replaced.
 */
export class GrpcConnections implements Disposable {
  readonly #sessions = new Map<string, ClientHttp2Session>()

  /** Returns the response message. `method` is /package.Service/Method. */
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
    // The pending call gets the error; this listener only prevents an uncaught one.
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

/** Accepts unix:///run/x.sock, and npipe:////./pipe/x for Windows pipes. */
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
  // A server that rejects at once sends the status in the headers.
  stream.on('response', recordStatus)
  stream.on('trailers', recordStatus)
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxResponseBytes) reject(new Error(`the answer is longer than ${maxResponseBytes} bytes`))
    else chunks.push(chunk)
  })
  // The session error says why there is no connection; stream errors say only that they were closed.
  session.once('error', reject)
  stream.on('error', reject)
  // At close all data and trailers have arrived.
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
  const message = decodeURIComponent(String(headers['grpc-message'] ?? ''))
  return new GrpcStatusError(String(status), message || `it answers with status ${String(status)} of gRPC`)
}

/** A gRPC frame is one byte for compression, four for the length, then the message. */
function parseFrame(frame: Buffer): Uint8Array {
  if (frame.length < 5 || frame[0] !== 0 || frame.length !== 5 + frame.readUInt32BE(1)) {
    throw new Error('the answer is no message of gRPC')
  }
  return frame.subarray(5)
}
