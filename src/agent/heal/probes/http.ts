import type { X509Certificate } from 'node:crypto'
import { Agent as PlainAgent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { TLSSocket } from 'node:tls'
import { formatError, hasCode } from '../../../kit/errors.ts'
import { parseCertificates } from '../../../pki/certificates.ts'
import type { CachedFiles } from './files.ts'
import {
  failedResult,
  healthyResult,
  type ProbeResult,
  type ProbeRunner,
  unknownResult,
} from './probe-runner.ts'

/**
 * Checks whether a server reports that it is healthy. A stopped process still accepts connections but never
 * responds, so a response is required.
 */
export function createHttpProbe(web: ProbeHttpClient, files: CachedFiles): ProbeRunner<'http'> {
  return async ({ url, caFile, credentials }, signal, { probe }) => {
    const tls: ProbeTlsOptions = {
      ...(caFile === undefined ? {} : { ca: await files.readRequired(caFile) }),
      ...(credentials === undefined
        ? {}
        : {
            cert: await files.readRequired(credentials.certificate),
            key: await files.readRequired(credentials.privateKey),
          }),
    }
    try {
      return toResult(await web.get(url, tls, signal))
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof UntrustedCertificateError))
        return failedResult('HEALTH_NO_RESPONSE', formatError(error))
      const message = `its certificate is not trusted: ${error.message}`
      // The server responds, so it runs. A restart would not change its certificate, so a local probe must
      // not fail.
      return probe.scope === 'local' ? unknownResult(message) : failedResult('HEALTH_CHECK_FAILED', message)
    }
  }
}

function toResult({ status, body }: ProbeHttpResponse): ProbeResult {
  if (status >= 200 && status < 300) return healthyResult
  const lines = body.split('\n').filter((line) => line.trim() !== '')
  // etcd and Kubernetes write one line per check; lines of failed checks start with `[-]`.
  const reason = lines.find((line) => line.startsWith('[-]')) ?? lines[0]
  return failedResult(
    'HEALTH_CHECK_FAILED',
    reason === undefined ? `status ${status}` : `status ${status}: ${reason}`,
  )
}

interface ProbeHttpResponse {
  readonly status: number
  /** Certificate of the server; undefined without TLS. */
  readonly certificate: X509Certificate | undefined
  /** Date header of the response. */
  readonly date: string | undefined
  /** Beginning of the body. */
  readonly body: string
}

/** TLS credentials as PEM. */
interface ProbeTlsOptions {
  readonly rejectUnauthorized?: boolean
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** The server responds with a certificate that the client does not trust. */
class UntrustedCertificateError extends Error {}

/** Maximum number of characters of a body that are kept. */
const maxBodyLength = 16_384

/**
 * Idle timeout in milliseconds. It is shorter than the idle timeout of the servers, so that the client
 * usually closes idle connections first.
 */
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

  /**
   * Returns the Date header of a server; undefined if it sends none. A certificate that is not valid at the
   * time of this host is accepted, because the clock of this host may be wrong. It must still be signed by a
   * CA in `ca`.
   */
  async getDate(url: string, ca: string, signal: AbortSignal): Promise<string | undefined> {
    const { date, certificate } = await this.get(url, { ca, rejectUnauthorized: false }, signal)
    if (certificate !== undefined && isSignedBy(certificate, ca)) return date
    throw new UntrustedCertificateError('it is not signed by the CA of the cluster')
  }

  [Symbol.dispose](): void {
    this.#plain.destroy()
    this.#tls.destroy()
  }
}

function isSignedBy(certificate: X509Certificate, ca: string): boolean {
  return parseCertificates(ca).some(
    (one) => certificate.checkIssued(one) && certificate.verify(one.publicKey),
  )
}

async function readResponse(outgoing: ClientRequest): Promise<ProbeHttpResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ProbeHttpResponse>()
  outgoing.on('error', (error) => reject(findTrustError(outgoing) ?? error))
  outgoing.on('response', (response) => {
    const { statusCode: status = 0, headers, socket } = response
    // The certificate is read now, because the socket may be closed at the end of the response.
    const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
    readBeginning(response).then((body) => resolve({ status, certificate, date: headers.date, body }), reject)
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
