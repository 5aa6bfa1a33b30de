import { Agent } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { formatError } from '../kit/errors.ts'

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
 * Creates the agents. Without a CA it returns undefined: servers are not probed, but clients are still
 * connected, because they verify the server themselves.
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
      // This also happens during a renewal, when the new certificate is already written and its key is not.
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
