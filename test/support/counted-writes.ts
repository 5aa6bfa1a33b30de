import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { loadTarget, type LoadTarget } from './api-transports.ts'
import { inNetworkOf, orderOf } from './network-process.ts'

const order = z.strictObject({ target: loadTarget, perSecond: z.number() })
const answer = z.strictObject({ acknowledged: z.array(z.string()), refused: z.int() })
export type WriteFigures = z.infer<typeof answer>

const collection = '/api/v1/namespaces/default/configmaps'

/** Objects are made at a steady pace, and each that the API has acknowledged is remembered. */
export class CountedWrites {
  readonly #process: ReturnType<typeof inNetworkOf>

  constructor(host: Host, target: LoadTarget, perSecond: number) {
    this.#process = inNetworkOf(host, import.meta.filename, { target, perSecond })
  }

  async stop(): Promise<WriteFigures> {
    return answer.parse(await this.#process.stop())
  }
}

/** Which of them nobody has any more. */
export async function lostWrites(api: KubeApi, { acknowledged }: WriteFigures): Promise<string[]> {
  const { items } = await api.get<{ items: { metadata: { name: string } }[] }>(
    `${collection}?labelSelector=counted`,
  )
  const there = new Set(items.map(({ metadata }) => metadata.name))
  return acknowledged.filter((name) => !there.has(name))
}

/** The process itself. */
async function main(): Promise<void> {
  const { order: told, ended } = await orderOf(order)
  const { target, perSecond } = told
  const api = new KubeApi(`https://${target.host}:${target.port}`, target.credentials)
  const acknowledged: string[] = []
  let [refused, number] = [0, 0]
  const pending = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const name = `counted-${process.pid}-${number++}`
    const metadata = { name, labels: { counted: '' } }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
    // As clients of Kubernetes do: over a connection that had just been closed nothing was asked.
    const done: Promise<void> = api
      .ensure(collection, object)
      .catch(async () => api.ensure(collection, object))
      .then(
        () => void acknowledged.push(name),
        // Nobody was promised anything.
        () => void refused++,
      )
      .finally(() => pending.delete(done))
    pending.add(done)
  }, 1000 / perSecond)
  await ended
  clearInterval(timer)
  await Promise.all(pending)
  api.close()
  process.stdout.write(`${JSON.stringify({ acknowledged, refused })}\n`)
}

if (import.meta.main) await main()
