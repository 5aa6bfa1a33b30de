import { Agent, request } from 'node:https'

export interface NodeCredentials {
  readonly authority: string
  readonly certificate: string
  readonly key: string
}

/** The API as a node asks it: whichever server answers, by the node's own certificate. */
export class NodeApi implements Disposable {
  readonly #servers: readonly string[]
  readonly #agent: Agent

  constructor(servers: readonly string[], { authority, certificate, key }: NodeCredentials) {
    this.#servers = servers
    this.#agent = new Agent({ ca: authority, cert: certificate, key, keepAlive: true })
  }

  async get(path: string): Promise<unknown> {
    return JSON.parse((await this.#send('GET', path)).text)
  }

  /** Creates it, or leaves what is there. */
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
    also: readonly number[] = [],
  ): Promise<{ readonly text: string }> {
    let last: unknown
    for (const server of this.#servers) {
      try {
        const { status, text } = await this.#ask(`https://${server}${path}`, method, body)
        if ((status >= 200 && status < 300) || also.includes(status)) return { text }
        throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`)
      } catch (error) {
        last = error
      }
    }
    throw last
  }

  async #ask(url: string, method: string, body: unknown): Promise<{ status: number; text: string }> {
    const sent = body === undefined ? '' : JSON.stringify(body)
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json'
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(sent) }
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
      outgoing.end(sent)
    })
  }
}
