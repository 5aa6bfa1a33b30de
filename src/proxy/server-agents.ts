import { Agent } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { describe } from '../kit/errors.ts'

/** How we speak with servers ourselves: whom we believe, and as whom. */
export interface Trust {
  readonly anonymous: Agent
  /** With our own certificate, where there is one. */
  readonly introduced: Agent | undefined
  close(): void
}

/** What was in the files. A node may be there before its certificates are. */
export interface Pems {
  readonly authority: string | undefined
  readonly credentials: { readonly certificate: string; readonly privateKey: string } | undefined
}

/**
 * Undefined without an authority: then nobody is asked how they are, and clients are connected all the same. They make
 * sure by themselves whom they speak with.
 */
export function makeTrust({ authority, credentials }: Pems, log: (line: string) => void): Trust | undefined {
  const make = (what: string, options: SecureContextOptions): Agent | undefined => {
    try {
      // Connections are kept: a handshake a second from every node is more than the servers deserve.
      return new Agent({ keepAlive: true, maxFreeSockets: 1, secureContext: createSecureContext(options) })
    } catch (error) {
      // Also in the moment in which a certificate is already renewed and its key is not.
      log(`${what} of no use: ${describe(error)}`)
      return undefined
    }
  }
  if (authority === undefined) {
    log('there is no authority: servers are not asked how they are')
    return undefined
  }
  const anonymous = make('the authority is', { ca: authority })
  const introduced =
    credentials &&
    make('our certificate or its key is', {
      ca: authority,
      cert: credentials.certificate,
      key: credentials.privateKey,
    })
  if (anonymous === undefined) return undefined
  return {
    anonymous,
    introduced,
    close() {
      anonymous.destroy()
      introduced?.destroy()
    },
  }
}
