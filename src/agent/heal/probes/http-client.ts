import { Agent as PlainAgent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { TLSSocket } from 'node:tls'
import { hasCode } from '../../../kit/errors.ts'

export interface ProbeHttpResponse {
  readonly status: number
  /** Date header of the server. */
  readonly date: string | undefined
  /** The beginning of the body. */
  readonly body: string
}

/** PEM. */
export interface ProbeTlsOptions {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** The server responds with a certificate that we do not trust. */
export class UntrustedCertificateError extends Error {}

/** Limits the memory that a response can use. */
const maxBodyLength = 16_384

/** Shorter than the idle timeout of the servers. */
const idleTimeoutMs = 60_000

/** Keeps connections open: a TLS handshake every five seconds would be most of the cost of probes. */
export class ProbeHttpClient implements Disposable {
  readonly #plain = new PlainAgent({ keepAlive: true, maxFreeSockets: 1, timeout: idleTimeoutMs })
  readonly #tls = new TlsAgent({ keepAlive: true, maxFreeSockets: 1, timeout: idleTimeoutMs })

  async get(url: string, tls: ProbeTlsOptions, signal: AbortSignal): Promise<ProbeHttpResponse> {
    const open = (): ClientRequest =>
      url.startsWith('https:')
        ? tlsRequest(url, { ...tls, agent: this.#tls, signal })
        : request(url, { agent: this.#plain, signal })
    const first = open()
    return readResponse(first).catch(async (error: unknown) => {
      // The server had closed the idle connection before it read the request: try once more.
      if (first.reusedSocket && hasCode(error, 'ECONNRESET')) return readResponse(open())
      throw error
    })
  }

  [Symbol.dispose](): void {
    this.#plain.destroy()
    this.#tls.destroy()
  }
}

async function readResponse(outgoing: ClientRequest): Promise<ProbeHttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ProbeHttpResponse>()
  outgoing.on('error', (error) => reject(findTrustError(outgoing) ?? error))
  outgoing.on('response', (response) => {
    readBeginning(response).then(
      (body) => resolve({ status: response.statusCode ?? 0, date: response.headers.date, body }),
      reject,
    )
  })
  outgoing.end()
  return promise
}

/** Reads the whole body, so that the connection can be reused, but keeps only the beginning. */
async function readBeginning(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const chunk of response) if (text.length < maxBodyLength) text += String(chunk)
  return text.slice(0, maxBodyLength)
}

function findTrustError({ socket }: ClientRequest): UntrustedCertificateError | undefined {
  const trustError = socket instanceof TLSSocket ? socket.authorizationError : undefined
  return trustError === undefined || trustError === null
    ? undefined
    : new UntrustedCertificateError(formatTrustError(trustError))
}

function formatTrustError(trustError: unknown): string {
  return trustError instanceof Error ? trustError.message : String(trustError)
}
