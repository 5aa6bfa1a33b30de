import { parse } from 'yaml'
import { z } from 'zod'
import { KubeClient } from '../../../kube/client.ts'
import type { KubeQuery } from '../../../kube/request.ts'
import type { ProbeDeps } from './probe-deps.ts'

const kubeconfig = z.looseObject({
  clusters: z.tuple([
    z.looseObject({ cluster: z.looseObject({ server: z.string(), 'certificate-authority': z.string() }) }),
  ]),
  users: z.tuple([
    z.looseObject({
      user: z.looseObject({ 'client-certificate': z.string(), 'client-key': z.string() }),
    }),
  ]),
})

export interface ProbeApiRequest {
  /** Path of a kubeconfig on the host. Its credentials determine what the probe may read. */
  readonly kubeconfig: string
  readonly path: string
  readonly query?: KubeQuery
  readonly accept?: string
}

/**
 * Reads the Kubernetes API with the credentials of components on this host. Requests are not retried, because
 * probes run again anyway.
 */
export class ProbeApi implements Disposable {
  readonly #files: ProbeDeps['files']
  readonly #over = new AbortController()
  readonly #clients = new Map<string, KubeClient>()

  constructor(files: ProbeDeps['files']) {
    this.#files = files
  }

  /** Sends a GET request and returns the unparsed body. */
  async text({ kubeconfig: file, ...request }: ProbeApiRequest, signal: AbortSignal): Promise<string> {
    const client = this.#clients.get(file) ?? (await this.#open(file))
    return client.text({ method: 'GET', ...request, once: true, signal })
  }

  async #open(file: string): Promise<KubeClient> {
    const text = await this.#files.read(file)
    if (text === undefined) throw new Error(`there is no ${file}`)
    const {
      clusters: [{ cluster }],
      users: [{ user }],
    } = kubeconfig.parse(parse(text.toString('utf8')))
    const client = new KubeClient({
      servers: [cluster.server],
      ca: { file: cluster['certificate-authority'] },
      credentials: {
        certificate: { file: user['client-certificate'] },
        privateKey: { file: user['client-key'] },
      },
      signal: this.#over.signal,
    })
    // Another probe may have opened a client for the same kubeconfig at the same time; close that one.
    this.#clients.get(file)?.close()
    this.#clients.set(file, client)
    return client
  }

  [Symbol.dispose](): void {
    this.#over.abort()
    for (const client of this.#clients.values()) client.close()
    this.#clients.clear()
  }
}
