import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { hasCode } from '../../src/kit/errors.ts'

const endpoint = z.strictObject({ host: z.string(), port: z.int() })
export type Endpoint = z.infer<typeof endpoint>

export const loadTarget = endpoint.extend({
  credentials: z.strictObject({ ca: z.string(), certificate: z.string(), key: z.string() }),
  /** Endpoints for connections that the first one does not accept, in this order. */
  others: z.array(endpoint).optional(),
})
export type LoadTarget = z.infer<typeof loadTarget>

export interface ApiResponse {
  readonly status: number
  readonly retryAfter: number
  readonly text: string
}

export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

/**
 * One way to send requests to an API server. With `newConnection`, it uses a connection that no request has
 * used.
 */
export interface ApiTransport {
  send(message: ApiRequest, newConnection: boolean): Promise<ApiResponse>
  close(): void
}

const patch = 'application/merge-patch+json'
/**
 * Timeout of a request. client-go has none by default. A request that waits this long has failed for every
 * client; shorter delays are in the figures.
 */
const timeoutMs = 30_000

export function buildConnectionOptions({ host, port, credentials: { ca, certificate, key } }: LoadTarget) {
  return { host, port, servername: 'kubernetes', ca: ca, cert: certificate, key }
}

export function createHttpTransport(target: LoadTarget, keepAlive: boolean): ApiTransport {
  const agent = new Agent({ keepAlive, ...(keepAlive ? { maxSockets: 20 } : {}) })
  const transport: ApiTransport = {
    send: async (message, newConnection) =>
      new Promise((resolve, reject) => {
        const { method, path, body } = message
        const options = { method, path, headers: { 'content-type': patch }, timeout: timeoutMs }
        const outgoing = request({
          ...buildConnectionOptions(target),
          ...options,
          agent: newConnection ? false : agent,
        })
        outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${timeoutMs} ms`)))
        outgoing.on('error', (error) => {
          // Retries if the server closed a kept connection just when it was reused.
          if (outgoing.reusedSocket && method === 'GET' && hasCode(error, 'ECONNRESET'))
            resolve(transport.send(message, true))
          else reject(error)
        })
        outgoing.on('response', (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              retryAfter: Number(response.headers['retry-after'] ?? 1) * 1000,
              text: Buffer.concat(chunks).toString('utf8'),
            }),
          )
        })
        outgoing.end(body)
      }),
    close: () => agent.destroy(),
  }
  return transport
}

/** Delays in seconds after which Go's clients retry a request that the server refused before starting it. */
const retryDelaysSeconds = [0, 1, 2, 4, 8, 16] as const

/**
 * Creates a transport with one shared HTTP/2 session. A new session replaces it after GOAWAY or a failed
 * request.
 */
export function createHttp2Transport(target: LoadTarget): ApiTransport {
  let session: ClientHttp2Session | undefined
  const discard = (unusable: ClientHttp2Session): void => {
    if (session === unusable) session = undefined
    // Requests in progress on this session may still finish.
    unusable.close()
  }
  const open = (): ClientHttp2Session => {
    if (session !== undefined && !session.closed && !session.destroyed) return session
    const opened = connectHttp2(`https://${target.host}:${target.port}`, buildConnectionOptions(target))
    opened.on('goaway', () => discard(opened))
    opened.on('error', () => discard(opened))
    session = opened
    return opened
  }
  const retryLater = async (message: ApiRequest, times: number, seconds: number): Promise<ApiResponse> => {
    await sleep(seconds * 1000)
    return send(message, times)
  }
  const send = async (message: ApiRequest, times: number): Promise<ApiResponse> =>
    new Promise((resolve, reject) => {
      const { method, path, body } = message
      const current = open()
      const stream = current.request({ ':method': method, ':path': path, 'content-type': patch })
      let [status, retryAfter, text] = [0, 1000, '']
      const fail = (error: Error): void => {
        discard(current)
        reject(error)
      }
      stream.setEncoding('utf8')
      stream.setTimeout(timeoutMs, () => stream.destroy(new Error(`no answer in ${timeoutMs} ms`)))
      stream.on('response', (headers) => {
        status = headers[':status'] ?? 0
        retryAfter = Number(headers['retry-after'] ?? 1) * 1000
      })
      stream.on('data', (chunk: string) => (text += chunk))
      stream.on('error', (error) => {
        // The request is repeated only if the server did not start it: the server refused the stream, or the
        // session was closed before the stream was sent.
        const notStarted =
          stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || hasCode(error, 'ERR_HTTP2_GOAWAY_SESSION')
        const retryDelay = retryDelaysSeconds[times]
        if (!notStarted || retryDelay === undefined) return fail(error)
        discard(current)
        resolve(retryLater(message, times + 1, retryDelay))
      })
      stream.on('close', () => {
        if (status === 0) fail(new Error('the session ended'))
        else resolve({ status, retryAfter, text })
      })
      stream.end(body)
    })
  return { send: async (message) => send(message, 0), close: () => session?.close() }
}
