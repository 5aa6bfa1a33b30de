import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { connect as dial } from 'node:net'

/** The server has answered, and that it would not. */
export class GrpcRefusal extends Error {
  readonly status: string

  constructor(status: string, message: string) {
    super(message)
    this.status = status
  }
}

/** Such a message is the whole question: what is asked for is all in the name of the method. */
const emptyMessage = Buffer.alloc(5)

/** Nobody who says how they are needs more. */
const most = 2 ** 20

/** Calls over sockets of this host. One connection each stays; whichever is silent is not asked again. */
export class GrpcLines implements Disposable {
  readonly #sessions = new Map<string, ClientHttp2Session>()

  /** The answer's message. `method` is /package.Service/Method. */
  async call(endpoint: string, method: string, signal: AbortSignal): Promise<Uint8Array> {
    signal.throwIfAborted()
    const session = this.#session(endpoint)
    try {
      return await answered(session, method, signal)
    } catch (error) {
      if (!(error instanceof GrpcRefusal)) this.#drop(endpoint, session)
      signal.throwIfAborted()
      throw error
    }
  }

  #session(endpoint: string): ClientHttp2Session {
    const known = this.#sessions.get(endpoint)
    if (known !== undefined && !known.closed && !known.destroyed) return known
    const path = pathOf(endpoint)
    const session = connect('http://localhost', { createConnection: () => dial(path) })
    // Whoever waits for an answer hears of it; nobody else has to.
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

/** unix:///run/x.sock, or npipe:////./pipe/x as those who call pipes of Windows write them. */
export function pathOf(endpoint: string): string {
  const pipe = /^npipe:\/\/\/\/\.\/pipe\/(.+)$/.exec(endpoint)?.[1]
  return pipe === undefined ? endpoint.replace(/^unix:\/\//, '') : `\\\\.\\pipe\\${pipe}`
}

async function answered(
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
  let refusal: GrpcRefusal | undefined
  const note = (headers: IncomingHttpHeaders): void => {
    refusal ??= refusalIn(headers)
  }
  // One that refuses at once says so where an answer would begin.
  stream.on('response', note)
  stream.on('trailers', note)
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > most) reject(new Error(`the answer is longer than ${most} bytes`))
    else chunks.push(chunk)
  })
  // The session says why there is no connection; its streams only that they were cut.
  session.once('error', reject)
  stream.on('error', reject)
  // By then all of it was heard, the trailers too.
  stream.on('close', () => (refusal === undefined ? resolve(Buffer.concat(chunks)) : reject(refusal)))
  stream.end(emptyMessage)
  try {
    return messageIn(Buffer.from(await promise))
  } finally {
    session.off('error', reject)
    stream.destroy()
  }
}

function refusalIn(headers: IncomingHttpHeaders): GrpcRefusal | undefined {
  const status = headers['grpc-status'] ?? '0'
  if (status === '0') return undefined
  const said = decodeURIComponent(String(headers['grpc-message'] ?? ''))
  return new GrpcRefusal(String(status), said || `it answers with status ${String(status)} of gRPC`)
}

/** Behind a byte that says whether it is compressed, and four that say how long it is. */
function messageIn(frame: Buffer): Uint8Array {
  if (frame.length < 5 || frame[0] !== 0 || frame.length !== 5 + frame.readUInt32BE(1)) {
    throw new Error('the answer is no message of gRPC')
  }
  return frame.subarray(5)
}
