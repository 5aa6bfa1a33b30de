import { Agent } from 'node:https'
import { sendHttps } from '../cluster/kube-api.ts'

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
        const { status, text } = await this.#request(server, path, method, body)
        if ((status >= 200 && status < 300) || allowedStatuses.includes(status)) return { text }
        throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`)
      } catch (error) {
        lastError = error
      }
    }
    throw lastError
  }

  async #request(server: string, path: string, method: string, body: unknown): ReturnType<typeof sendHttps> {
    const type = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json'
    const headers = { 'content-type': type }
    return sendHttps(`https://${server}`, path, { method, agent: this.#agent, headers, timeout: 5000 }, body)
  }
}
