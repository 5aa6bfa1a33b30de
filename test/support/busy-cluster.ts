import type { Credentials, KubeApi } from '../../lab/cluster/kube-api.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { ApiLoad, type LoadFigures } from './api-load.ts'
import type { Endpoint } from './api-transports.ts'
import { CountedWrites, findLostWrites, type WriteFigures } from './counted-writes.ts'
import { LoadProcess } from './load-process.ts'
import { waitForRequests } from './proxied-api.ts'
import { ServiceLoad, type ServiceFigures } from './service-load.ts'

/** Results of the load on a cluster in use. */
export interface BusyFigures {
  readonly api: LoadFigures
  readonly service: ServiceFigures
  readonly writes: WriteFigures
  /** Names of objects whose creation the API acknowledged but that the API does not have. */
  readonly lost: readonly string[]
}

/** Requests in one second. */
export interface BusyRates {
  readonly api: number
  readonly service: number
  readonly writes: number
}

/** Rates of the recorded runs. */
const recordedRates: BusyRates = { api: 50, service: 100, writes: 5 }
/** CI uses less, because all hosts of a cluster share two cores that may be slow. */
export const ciRates: BusyRates = { api: 20, service: 40, writes: 5 }

/** How clients reach the cluster. */
export interface BusyTarget {
  /** Endpoints of the API, as `clientHost` reaches them. Connections go to the first one that accepts them. */
  readonly endpoints: readonly [Endpoint, ...Endpoint[]]
  /** Address of the Service, which must be in the service network. */
  readonly service: string
  /** Whether the pods have a disruption budget. With one worker, it would block each drain. */
  readonly budget: boolean
}

const ownTarget: BusyTarget = {
  endpoints: [{ host: '127.0.0.1', port: 6444 }],
  service: '10.96.88.88',
  budget: true,
}

const services = '/api/v1/namespaces/default/services'
const name = 'shop'
const labels = { app: name }

/**
 * Creates the Service unless it exists. `ensure` would fail, because the API reports an occupied address
 * instead of an existing name.
 */
async function ensureService(api: KubeApi, address: string): Promise<void> {
  await api.create(services, buildService(address)).catch(async (error: unknown) => {
    await api.get(`${services}/${name}`).catch(() => Promise.reject(error))
  })
}

/** A cluster in use: API requests and writes through the proxy of a node, and requests to a service. */
export class BusyCluster {
  readonly #load: LoadProcess
  readonly #service: ServiceLoad
  readonly #writes: CountedWrites

  private constructor(
    clientHost: Host,
    credentials: Credentials,
    rates: BusyRates,
    { endpoints: [first, ...others], service }: BusyTarget,
  ) {
    const target = { ...first, others, credentials }
    this.#load = new LoadProcess(clientHost, target, rates.api)
    this.#service = new ServiceLoad(clientHost, { address: service }, rates.service)
    this.#writes = new CountedWrites(clientHost, target, rates.writes)
  }

  /** Creates four pods behind a service with a disruption budget, then starts the load. */
  static async open(
    api: KubeApi,
    clientHost: Host,
    credentials: Credentials,
    rates = recordedRates,
    target = ownTarget,
  ): Promise<BusyCluster> {
    await ApiLoad.prepare(api)
    await api.ensure('/apis/apps/v1/namespaces/default/deployments', deployment)
    if (target.budget) await api.ensure('/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget)
    await ensureService(api, target.service)
    await pollUntil('the shop to open', async () => (await countAvailable(api)) === 4, { timeoutMs: 120_000 })
    // kube-proxy on the client host may write its rules some time after the API reports the pods as
    // available.
    await pollUntil('the way to the shop', async () => isServiceReachable(clientHost, target.service), {
      timeoutMs: 60_000,
      intervalMs: 100,
    })
    return new BusyCluster(clientHost, credentials, rates, target)
  }

  /**
   * Waits for 50 responses of the API. Tests call this function after `open`, so that the load is running
   * before the first fault.
   */
  async waitForFirstResponses(): Promise<void> {
    await waitForRequests(this.#load, 50)
  }

  /** Removes the deployment, the disruption budget and the service. */
  static async cleanUp(api: KubeApi): Promise<void> {
    await api.remove(`/apis/apps/v1/namespaces/default/deployments/${name}`)
    await api.remove(`/apis/policy/v1/namespaces/default/poddisruptionbudgets/${name}`)
    await api.remove(`/api/v1/namespaces/default/services/${name}`)
  }

  /** Stops the load and checks that the API has all acknowledged writes. */
  async stop(api: KubeApi): Promise<BusyFigures> {
    const [load, serviceFigures, writes] = await Promise.all([
      this.#load.stop(),
      this.#service.stop(),
      this.#writes.stop(),
    ])
    return { api: load, service: serviceFigures, writes, lost: await findLostWrites(api, writes) }
  }
}

export function formatBusyFigures({ api, service: serviceFigures, writes, lost }: BusyFigures): string {
  const reasons = api.failed.length > 0 ? [`first errors: ${JSON.stringify(api.reasons)}`] : []
  return [
    `API: ${api.requests} requests, ${api.failed.length} failed, ${api.retried} sent again, ${api.throttled} throttled, worst ${api.worst} ms`,
    `service: ${serviceFigures.requests} requests, ${serviceFigures.failed.length} failed, worst ${serviceFigures.worst} ms, ${serviceFigures.pods} pods`,
    `writes: ${writes.acknowledged.length} acknowledged, ${writes.refused} refused, ${lost.length} lost`,
    ...reasons,
    `slowest: ${api.slowest.map(({ at, method, ms }) => `${method} ${ms} ms at ${at.slice(11, 19)}`).join(', ')}`,
  ].join('; ')
}

async function isServiceReachable(clientHost: Host, address: string): Promise<boolean> {
  const command = ['curl', '-sf', '-o', '/dev/null', '-m', '2', `http://${address}/`] as const
  return (await clientHost.exec(command, { allowFailure: true })).code === 0
}

async function countAvailable(api: KubeApi): Promise<number> {
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
            // The server keeps serving for five seconds after SIGTERM, so that kube-proxy can remove its
            // endpoint first.
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

function buildService(address: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { clusterIP: address, selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
  }
}
