import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import { Agent, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { hasCode } from '../../src/kit/errors.ts'

export const loadTarget = z.strictObject({
  host: z.string(),
  port: z.int(),
  credentials: z.strictObject({ authority: z.string(), certificate: z.string(), key: z.string() }),
})
export type LoadTarget = z.infer<typeof loadTarget>

export interface Answer {
  readonly status: number
  readonly retryAfter: number
  readonly text: string
}

export interface Message {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

/** One way of speaking with an API server. With `anew`, over a connection that nothing has happened to yet. */
export interface Way {
  send(message: Message, anew: boolean): Promise<Answer>
  close(): void
}

const patch = 'application/merge-patch+json'
/** Longer than any stall that we would accept. */
const patience = 8000

export function connectionOf({ host, port, credentials: { authority, certificate, key } }: LoadTarget) {
  return { host, port, servername: 'kubernetes', ca: authority, cert: certificate, key }
}

export function plainWay(target: LoadTarget, keepAlive: boolean): Way {
  const agent = new Agent({ keepAlive, ...(keepAlive ? { maxSockets: 20 } : {}) })
  const way: Way = {
    send: async (message, anew) =>
      new Promise((resolve, reject) => {
        const { method, path, body } = message
        const options = { method, path, headers: { 'content-type': patch }, timeout: patience }
        const outgoing = request({ ...connectionOf(target), ...options, agent: anew ? false : agent })
        outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${patience} ms`)))
        outgoing.on('error', (error) => {
          // The other side let go of a connection in the moment in which we took it up again.
          if (outgoing.reusedSocket && method === 'GET' && hasCode(error, 'ECONNRESET'))
            resolve(way.send(message, true))
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
  return way
}

/** When Go's clients send again what a server has refused without having begun with it: at once, then after so many seconds. */
const pauses = [0, 1, 2, 4, 8, 16] as const

/** One session for all, and a new one when the server says goodbye or a request has failed. */
export function http2Way(target: LoadTarget): Way {
  let session: ClientHttp2Session | undefined
  const forget = (one: ClientHttp2Session): void => {
    if (session === one) session = undefined
    // Those that are under way on it may still end.
    one.close()
  }
  const open = (): ClientHttp2Session => {
    if (session !== undefined && !session.closed && !session.destroyed) return session
    const fresh = connectHttp2(`https://${target.host}:${target.port}`, connectionOf(target))
    fresh.on('goaway', () => forget(fresh))
    fresh.on('error', () => forget(fresh))
    session = fresh
    return fresh
  }
  const later = async (message: Message, times: number, seconds: number): Promise<Answer> => {
    await sleep(seconds * 1000)
    return send(message, times)
  }
  const send = async (message: Message, times: number): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { method, path, body } = message
      const used = open()
      const stream = used.request({ ':method': method, ':path': path, 'content-type': patch })
      let [status, retryAfter, text] = [0, 1000, '']
      const fail = (error: Error): void => {
        forget(used)
        reject(error)
      }
      stream.setEncoding('utf8')
      stream.setTimeout(patience, () => stream.destroy(new Error(`no answer in ${patience} ms`)))
      stream.on('response', (headers) => {
        status = headers[':status'] ?? 0
        retryAfter = Number(headers['retry-after'] ?? 1) * 1000
      })
      stream.on('data', (chunk: string) => (text += chunk))
      stream.on('error', (error) => {
        // The server has said goodbye, and has not begun with this one.
        const pause = pauses[times]
        if (stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM || pause === undefined) return fail(error)
        forget(used)
        resolve(later(message, times + 1, pause))
      })
      stream.on('close', () => {
        if (status === 0) fail(new Error('the session ended'))
        else resolve({ status, retryAfter, text })
      })
      stream.end(body)
    })
  return { send: async (message) => send(message, 0), close: () => session?.close() }
}
