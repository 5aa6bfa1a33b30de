import { Agent, request } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { formatError, hasCode } from '../kit/errors.ts'
import { parseHostPort } from '../kit/host-port.ts'

/** HTTPS agents for the proxy's own requests to API servers. */
export interface ServerAgents {
  readonly anonymous: Agent
  /** Agent that sends the proxy's client certificate; undefined without a certificate. */
  readonly authenticated: Agent | undefined
  close(): void
}

/**
 * Contents of the certificate files; undefined while a file does not exist. A node may start before its
 * certificates exist.
 */
export interface ProxyCertificates {
  readonly caCertificate: string | undefined
  readonly credentials: { readonly certificate: string; readonly privateKey: string } | undefined
}

/**
 * Creates the HTTPS agents. Returns undefined without a usable CA certificate, and the proxy then does not
 * probe servers. The proxy still connects clients, because clients verify the server themselves.
 */
export function createServerAgents(
  { caCertificate, credentials }: ProxyCertificates,
  log: (line: string) => void,
): ServerAgents | undefined {
  const createAgent = (what: string, options: SecureContextOptions): Agent | undefined => {
    try {
      // Connections are kept open, because a TLS handshake per second from every node would load the servers.
      return new Agent({ keepAlive: true, maxFreeSockets: 1, secureContext: createSecureContext(options) })
    } catch (error) {
      // The error also occurs during a renewal, when the new certificate is already written but the new key
      // is not.
      log(`${what} not usable: ${formatError(error)}`)
      return undefined
    }
  }
  if (caCertificate === undefined) {
    log('no CA certificate: servers are not probed')
    return undefined
  }
  const anonymous = createAgent('the CA is', { ca: caCertificate })
  const authenticated =
    credentials &&
    createAgent('the client certificate or its key is', {
      ca: caCertificate,
      cert: credentials.certificate,
      key: credentials.privateKey,
    })
  if (anonymous === undefined) return undefined
  return {
    anonymous,
    authenticated,
    close() {
      anonymous.destroy()
      authenticated?.destroy()
    },
  }
}

interface HttpGetResponse {
  readonly status: number
  readonly text: string
}

interface HttpGetOptions {
  readonly agent: Agent
  readonly server: string
  readonly path: string
  /** Milliseconds for the whole request. */
  readonly timeoutMs: number
  /** Maximum size of the response in bytes. */
  readonly maxBytes: number
}

/** Thrown if the response does not arrive within `timeoutMs`. */
export class HttpGetTimeout extends Error {
  constructor() {
    super('no answer in time')
  }
}

export async function httpGet(options: HttpGetOptions): Promise<HttpGetResponse> {
  const { agent, server, path, timeoutMs, maxBytes } = options
  return new Promise((resolve, reject) => {
    const { host, port } = parseHostPort(server)
    const outgoing = request({ agent, host, port, path, headers: { accept: 'application/json' } })
    // If the event loop of this process was delayed, the response may have arrived already. So pending events
    // are handled before the request fails.
    const onTimeout = (): unknown =>
      setImmediate(() => (outgoing.closed ? undefined : outgoing.destroy(new HttpGetTimeout())))
    const timer = setTimeout(onTimeout, timeoutMs)
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('error', (error) => {
      // The server closed an idle connection while the client reused it. This is not a failure of the server,
      // so the request is sent again.
      if (outgoing.reusedSocket && hasCode(error, 'ECONNRESET')) resolve(httpGet(options))
      else reject(error)
    })
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxBytes) outgoing.destroy(new Error(`the response is longer than ${maxBytes} bytes`))
        else chunks.push(chunk)
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    outgoing.end()
  })
}
