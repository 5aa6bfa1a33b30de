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
  /** Path on the host. Its credentials decide what the probe may read. */
  readonly kubeconfig: string
  readonly path: string
  readonly query?: KubeQuery
  readonly accept?: string
}

/**
 * Reads the Kubernetes API with the credentials of this host's components. Requests are not retried, because
 * probes run again anyway.
 */
export class ProbeApi implements Disposable {
  readonly #files: ProbeDeps['files']
  readonly #over = new AbortController()
  readonly #clients = new Map<string, KubeClient>()

  constructor(files: ProbeDeps['files']) {
    this.#files = files
  }

  /** Returns the body as it is. */
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
    // Two probes may have opened the same file at once.
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
