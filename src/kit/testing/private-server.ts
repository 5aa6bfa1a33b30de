import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { TestCa } from './test-ca.ts'

/** Name of the server. Requests to a name use a proxy, unlike those to a loopback address. */
const serverName = 'mirror.example'

export interface PrivateServer extends AsyncDisposable {
  /** URL with a loopback address. */
  readonly url: string
  /** URL with a name that only `startLoginProxy` resolves. */
  readonly namedUrl: string
  /** NAME:PORT of `namedUrl`. */
  readonly host: string
}

/** Starts an HTTPS server on loopback with a certificate of a private CA. */
export async function startPrivateServer(
  { server: pair }: TestCa,
  listener: RequestListener,
): Promise<PrivateServer> {
  const server = createServer({ cert: pair.certificate, key: pair.privateKey }, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : ''
  return {
    url: `https://127.0.0.1:${port}`,
    namedUrl: `https://${serverName}:${port}`,
    host: `${serverName}:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
