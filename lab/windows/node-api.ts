import { Agent, request } from 'node:https'

export interface NodeCredentials {
  readonly ca: string
  readonly certificate: string
  readonly key: string
}

/**
 * Client for the API of a cluster. It uses the first reachable server and authenticates with the node's
 * certificate.
 */
export class NodeApi implements Disposable {
  readonly #servers: readonly string[]
  readonly #agent: Agent

  constructor(servers: readonly string[], { ca, certificate, key }: NodeCredentials) {
    this.#servers = servers
    this.#agent = new Agent({ ca: ca, cert: certificate, key, keepAlive: true })
  }

  async get(path: string): Promise<unknown> {
    return JSON.parse((await this.#send('GET', path)).text)
  }

  /** Creates the object unless it already exists. */
  async ensure(path: string, object: unknown): Promise<void> {
    await this.#send('POST', path, object, [409])
  }

  async patch(path: string, change: unknown): Promise<void> {
    await this.#send('PATCH', path, change)
  }

  async remove(path: string, options: object): Promise<void> {
    await this.#send('DELETE', path, options, [404])
  }

  async renewLease(name: string): Promise<void> {
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
    const renewTime = new Date().toISOString().replace('Z', '000Z')
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime }
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec }
    await this.ensure(path, lease)
    await this.patch(`${path}/${name}`, { spec })
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  async #send(
    method: string,
    path: string,
    body?: unknown,
    allowedStatuses: readonly number[] = [],
  ): Promise<{ readonly text: string }> {
    let lastError: unknown
    for (const server of this.#servers) {
      try {
        const { status, text } = await this.#request(`https://${server}${path}`, method, body)
        if ((status >= 200 && status < 300) || allowedStatuses.includes(status)) return { text }
        throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`)
      } catch (error) {
        lastError = error
      }
    }
    throw lastError
  }

  async #request(url: string, method: string, body: unknown): Promise<{ status: number; text: string }> {
    const requestBody = body === undefined ? '' : JSON.stringify(body)
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json'
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(requestBody) }
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { method, agent: this.#agent, headers, timeout: 5000 }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        )
      })
      outgoing.on('error', reject)
      outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${url}: no answer in 5 s`)))
      outgoing.end(requestBody)
    })
  }
}
