import { Agent as PlainAgent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { TLSSocket } from 'node:tls'
import { hasCode } from '../../../kit/errors.ts'

export interface ProbeHttpResponse {
  readonly status: number
  /** Date header of the response. */
  readonly date: string | undefined
  /** Beginning of the body. */
  readonly body: string
}

/** TLS credentials as PEM. */
export interface ProbeTlsOptions {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** The server responds with a certificate that the client does not trust. */
export class UntrustedCertificateError extends Error {}

/** Maximum number of characters of a body that are kept. */
const maxBodyLength = 16_384

/** Idle timeout in milliseconds. It is shorter than that of the servers. */
const idleTimeoutMs = 60_000

/**
 * HTTP client that keeps connections open, because TLS handshakes would be the main cost of frequent probes.
 */
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
      // The server closed the idle connection before it read the request, so the request is sent once more.
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

/** Reads the whole body so that the connection can be reused. Returns only its beginning. */
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
