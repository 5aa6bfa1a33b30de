import { Agent } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { formatError } from '../kit/errors.ts'

/** TLS agents for our own requests to servers. */
export interface ServerAgents {
  readonly anonymous: Agent
  /** With our certificate, if there is one. */
  readonly authenticated: Agent | undefined
  close(): void
}

/** Contents of the files. A node may start before its certificates exist. */
export interface ProxyCertificates {
  readonly caCertificate: string | undefined
  readonly credentials: { readonly certificate: string; readonly privateKey: string } | undefined
}

/**
 * Returns undefined without a CA: servers are then not probed, but clients are still connected. Clients
 * verify the server themselves.
 */
export function createServerAgents(
  { caCertificate, credentials }: ProxyCertificates,
  log: (line: string) => void,
): ServerAgents | undefined {
  const createAgent = (what: string, options: SecureContextOptions): Agent | undefined => {
    try {
      // Connections are kept: a handshake per second from every node would load the servers.
      return new Agent({ keepAlive: true, maxFreeSockets: 1, secureContext: createSecureContext(options) })
    } catch (error) {
      // Happens also while a certificate is already renewed and its key is not.
      log(`${what} of no use: ${formatError(error)}`)
      return undefined
    }
  }
  if (caCertificate === undefined) {
    log('there is no CA: servers are not probed')
    return undefined
  }
  const anonymous = createAgent('the CA is', { ca: caCertificate })
  const authenticated =
    credentials &&
    createAgent('our certificate or its key is', {
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
