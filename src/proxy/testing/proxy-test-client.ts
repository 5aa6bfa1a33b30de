import { Agent, request } from 'node:https'
import type { OpensslTestCa } from './openssl-test-ca.ts'

/** A test client that connects to API servers through the proxy. */
export class ProxyTestClient {
  readonly #agent: Agent
  readonly #port: number

  /**
   * With `reuse` the client keeps its connection, as Kubernetes clients do. Otherwise each request opens a
   * new connection.
   */
  constructor({ certificate }: OpensslTestCa, port: number, reuse: boolean) {
    this.#agent = new Agent({ ca: certificate, servername: 'kubernetes', keepAlive: reuse, maxSockets: 1 })
    this.#port = port
  }

  /** Returns the name of the server that responded. */
  async get(path = '/'): Promise<string> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { agent: this.#agent, host: '127.0.0.1', port: this.#port, path, timeout: 10_000 },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
        },
      )
      outgoing.on('error', reject)
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in 10 s')))
      outgoing.end()
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
