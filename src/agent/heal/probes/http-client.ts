import { Agent as PlainAgent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { TLSSocket } from 'node:tls'
import { hasCode } from '../../../kit/errors.ts'

export interface WebAnswer {
  readonly status: number
  /** By the server's clock, when it answered. */
  readonly date: string | undefined
  /** Its beginning. */
  readonly body: string
}

/** PEM. */
export interface WebTrust {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** It answers, and presents a certificate that we do not trust. */
export class Untrusted extends Error {}

/** Says more than this only to fill our memory. */
const most = 16_384

/** Before servers let go of them. */
const idle = 60_000

/** Connections that stay: a handshake every five seconds would be most of what probes cost. */
export class Web implements Disposable {
  readonly #plain = new PlainAgent({ keepAlive: true, maxFreeSockets: 1, timeout: idle })
  readonly #tls = new TlsAgent({ keepAlive: true, maxFreeSockets: 1, timeout: idle })

  async get(url: string, trust: WebTrust, signal: AbortSignal): Promise<WebAnswer> {
    const open = (): ClientRequest =>
      url.startsWith('https:')
        ? tlsRequest(url, { ...trust, agent: this.#tls, signal })
        : request(url, { agent: this.#plain, signal })
    const first = open()
    return answerTo(first).catch(async (error: unknown) => {
      // It had let go of the connection before it got the question: that is no answer to it.
      if (first.reusedSocket && hasCode(error, 'ECONNRESET')) return answerTo(open())
      throw error
    })
  }

  [Symbol.dispose](): void {
    this.#plain.destroy()
    this.#tls.destroy()
  }
}

async function answerTo(outgoing: ClientRequest): Promise<WebAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WebAnswer>()
  outgoing.on('error', (error) => reject(doubtOf(outgoing) ?? error))
  outgoing.on('response', (response) => {
    readBeginning(response).then(
      (body) => resolve({ status: response.statusCode ?? 0, date: response.headers.date, body }),
      reject,
    )
  })
  outgoing.end()
  return promise
}

/** All of it is heard, so that the connection can be used again, and the beginning of it kept. */
async function readBeginning(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const chunk of response) if (text.length < most) text += String(chunk)
  return text.slice(0, most)
}

function doubtOf({ socket }: ClientRequest): Untrusted | undefined {
  const doubt = socket instanceof TLSSocket ? socket.authorizationError : undefined
  return doubt === undefined || doubt === null ? undefined : new Untrusted(wordsOf(doubt))
}

function wordsOf(doubt: unknown): string {
  return doubt instanceof Error ? doubt.message : String(doubt)
}
