import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { until } from '../../src/kit/poll-until.ts'
import { ApiLoad, type LoadFigures } from './api-load.ts'
import { CountedWrites, lostWrites, type WriteFigures } from './counted-writes.ts'
import type { credentialsIn } from './kubeconfig.ts'
import { LoadProcess } from './load-process.ts'
import { more } from './proxied-api.ts'
import { ServiceLoad, type ServiceFigures } from './service-load.ts'

/** What a cluster that is in use has seen. */
export interface BusyFigures {
  readonly api: LoadFigures
  readonly service: ServiceFigures
  readonly writes: WriteFigures
  /** Writes that were acknowledged and are no more. */
  readonly lost: readonly string[]
}

const services = '/api/v1/namespaces/default/services'
const [name, address] = ['shop', '10.96.88.88'] as const
const labels = { app: name }

/** One that has an address of its own is refused for that address when it is there already, and not for its name. */
async function ensureService(api: KubeApi): Promise<void> {
  await api.create(services, service).catch(async (error: unknown) => {
    await api.get(`${services}/${name}`).catch(() => Promise.reject(error))
  })
}

/** A cluster in use: people ask its API through the proxy of a node and write, and a service has visitors. */
export class BusyCluster {
  readonly #load: LoadProcess
  readonly #service: ServiceLoad
  readonly #writes: CountedWrites

  private constructor(from: Host, credentials: ReturnType<typeof credentialsIn>) {
    const target = { host: '127.0.0.1', port: 6444, credentials }
    this.#load = new LoadProcess(from, target, 50)
    this.#service = new ServiceLoad(from, address, 100)
    this.#writes = new CountedWrites(from, target, 5)
  }

  /** Four pods behind a service, with a budget; then everybody comes. */
  static async open(
    api: KubeApi,
    from: Host,
    credentials: ReturnType<typeof credentialsIn>,
  ): Promise<BusyCluster> {
    await ApiLoad.prepare(api)
    await api.ensure('/apis/apps/v1/namespaces/default/deployments', deployment)
    await api.ensure('/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget)
    await ensureService(api)
    await until('the shop to open', async () => (await available(api)) === 4, { within: 120_000 })
    // That its pods are there is known to the API before the host of its visitors has heard of it.
    await until('the way to the shop', async () => isOpen(from), { within: 60_000, every: 100 })
    return new BusyCluster(from, credentials)
  }

  /** Once the first of them have their answers. */
  async isUnderWay(): Promise<void> {
    await more(this.#load, 50)
  }

  /** Nothing of it stays. */
  static async leave(api: KubeApi): Promise<void> {
    await api.remove(`/apis/apps/v1/namespaces/default/deployments/${name}`)
    await api.remove(`/apis/policy/v1/namespaces/default/poddisruptionbudgets/${name}`)
    await api.remove(`/api/v1/namespaces/default/services/${name}`)
  }

  /** The API is asked for what was written. */
  async stop(api: KubeApi): Promise<BusyFigures> {
    const [load, visits, writes] = await Promise.all([
      this.#load.stop(),
      this.#service.stop(),
      this.#writes.stop(),
    ])
    return { api: load, service: visits, writes, lost: await lostWrites(api, writes) }
  }
}

export function busyText({ api, service: visits, writes, lost }: BusyFigures): string {
  return [
    `API: ${api.requests} requests, ${api.failed.length} failed, ${api.retried} sent again, ${api.throttled} told to wait, worst ${api.worst} ms`,
    `service: ${visits.requests} requests, ${visits.failed.length} failed, worst ${visits.worst} ms, ${visits.pods} pods`,
    `writes: ${writes.acknowledged.length} acknowledged, ${writes.refused} refused, ${lost.length} lost`,
  ].join('; ')
}

async function isOpen(from: Host): Promise<boolean> {
  const visit = ['curl', '-sf', '-o', '/dev/null', '-m', '2', `http://${address}/`] as const
  return (await from.exec(visit, { allowFailure: true })).code === 0
}

async function available(api: KubeApi): Promise<number> {
  const { status } = await api.get<{ status: { availableReplicas?: number } }>(
    `/apis/apps/v1/namespaces/default/deployments/${name}`,
  )
  return status.availableReplicas ?? 0
}

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 4,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 30,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: { matchLabels: labels },
          },
        ],
        containers: [
          {
            name: 'web',
            image: testImage,
            imagePullPolicy: 'IfNotPresent',
            // As it should be with every server: it goes on for a while after it was told to end.
            args: ['netexec', '--http-port=8080', '--delay-shutdown=5'],
            readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
}

const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { minAvailable: 3, selector: { matchLabels: labels } },
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { clusterIP: address, selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
}
