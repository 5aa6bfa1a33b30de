import { parse } from 'yaml'
import { z } from 'zod'
import { KubeClient } from '../../../kube/client.ts'
import type { Query } from '../../../kube/request.ts'
import type { ProbeEdges } from './probe-deps.ts'

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

export interface ApiQuestion {
  /** On the host: whose eyes are used. */
  readonly kubeconfig: string
  readonly path: string
  readonly query?: Query
  readonly accept?: string
}

/** The API as components of this host see it. Each is asked once: who asks again and again need not insist. */
export class ProbeApi implements Disposable {
  readonly #files: ProbeEdges['files']
  readonly #over = new AbortController()
  readonly #clients = new Map<string, KubeClient>()

  constructor(files: ProbeEdges['files']) {
    this.#files = files
  }

  /** The answer as it is. */
  async text({ kubeconfig: file, ...question }: ApiQuestion, signal: AbortSignal): Promise<string> {
    const client = this.#clients.get(file) ?? (await this.#open(file))
    return client.text({ method: 'GET', ...question, once: true, signal })
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
      authority: { file: cluster['certificate-authority'] },
      credentials: {
        certificate: { file: user['client-certificate'] },
        privateKey: { file: user['client-key'] },
      },
      signal: this.#over.signal,
    })
    // Two probes may have begun with the same file at once.
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
