import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { loadTarget, type LoadTarget } from './api-transports.ts'
import { openTarget } from './endpoint-relay.ts'
import { type ClientNetwork, runInNetwork, readOptions } from './network-process.ts'

const optionsSchema = z.strictObject({ target: loadTarget, perSecond: z.number(), namespace: z.string() })
const figuresSchema = z.strictObject({ acknowledged: z.array(z.string()), refused: z.int() })
export type WriteFigures = z.infer<typeof figuresSchema>

function formatCollection(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps`
}

/** Creates objects at a constant rate and records the names that the API acknowledged. */
export class CountedWrites {
  readonly #process: ReturnType<typeof runInNetwork>

  constructor(network: ClientNetwork, target: LoadTarget, perSecond: number, namespace = 'default') {
    this.#process = runInNetwork(network, import.meta.filename, { target, perSecond, namespace })
  }

  async stop(): Promise<WriteFigures> {
    return figuresSchema.parse(await this.#process.stop())
  }
}

/** Lists objects whose creation the API acknowledged but that the API does not have. */
export async function findLostWrites(
  api: KubeApi,
  { acknowledged }: WriteFigures,
  namespace = 'default',
): Promise<string[]> {
  const { items } = await api.get<{ items: { metadata: { name: string } }[] }>(
    `${formatCollection(namespace)}?labelSelector=counted`,
  )
  const stored = new Set(items.map(({ metadata }) => metadata.name))
  return acknowledged.filter((name) => !stored.has(name))
}

/** Entry point of the child process. */
async function main(): Promise<void> {
  const { options, ended } = await readOptions(optionsSchema)
  const { perSecond } = options
  const collection = formatCollection(options.namespace)
  using opened = await openTarget(options.target)
  const { target } = opened
  const api = new KubeApi(`https://${target.host}:${target.port}`, target.credentials)
  const acknowledged: string[] = []
  let [refused, number] = [0, 0]
  const pending = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const name = `counted-${process.pid}-${number++}`
    const metadata = { name, labels: { counted: '' } }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
    // Retries once, as Kubernetes clients do: a request may fail on a connection that the server has already
    // closed.
    const pendingRequest: Promise<void> = api
      .ensure(collection, object)
      .catch(async () => api.ensure(collection, object))
      .then(
        () => void acknowledged.push(name),
        () => void refused++,
      )
      .finally(() => pending.delete(pendingRequest))
    pending.add(pendingRequest)
  }, 1000 / perSecond)
  await ended
  clearInterval(timer)
  await Promise.all(pending)
  api.close()
  process.stdout.write(`${JSON.stringify({ acknowledged, refused })}\n`)
}

if (import.meta.main) await main()
