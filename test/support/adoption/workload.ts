import { z } from 'zod'
import type { Credentials, KubeApi } from '../../../lab/cluster/kube-api.ts'
import type { Host } from '../../../lab/hosts/host.ts'
import { settleAll } from '../../../src/kit/concurrency.ts'
import { pollUntil } from '../../../src/kit/poll.ts'
import type { Endpoint } from '../api-transports.ts'
import { CountedWrites, findLostWrites, type WriteFigures } from '../counted-writes.ts'
import { ServiceLoad, type ServiceFigures } from '../service-load.ts'
import { type AdoptedCluster, listControlPlanes, listWorkers, selectClientHost } from './contender.ts'
import { dial, type DialResult, findPolicyProblems } from './dial.ts'
import { measureGapSince, parseStoreLog } from './store-log.ts'
import {
  buildGuard,
  ingressName,
  ingressNodePort,
  listWorkloadImages,
  listWorkloadObjects,
  namespace,
  objectCount,
  podPort,
  readExpectedWord,
  volumeDirectory,
  webNodePort,
  widgetGroup,
  widgets,
  type WorkloadObject,
} from './workload-objects.ts'

/** Requests and writes in one second. */
const rates = { nodePort: 10, ingress: 10, guarded: 1 }

/** What clients of the workload saw during one change. */
export interface WorkloadFigures {
  readonly nodePort: ServiceFigures
  readonly ingress: ServiceFigures
  /** Writes that the webhook of the workload must admit. */
  readonly guarded: WriteFigures
  readonly lost: readonly string[]
  /** Longest time in which a pod of the StatefulSet wrote nothing, in seconds. */
  readonly storeGapSeconds: number
}

/**
 * Applications in a cluster: Deployments with budgets, a StatefulSet with volumes, a DaemonSet, traffic through a
 * NodePort and an Ingress, a NetworkPolicy, Secrets, a webhook and custom resources.
 */
export class Workload {
  readonly #cluster: AdoptedCluster

  private constructor(cluster: AdoptedCluster) {
    this.#cluster = cluster
  }

  /** Creates all objects and waits until the applications are in use. */
  static async create(cluster: AdoptedCluster, api: KubeApi): Promise<Workload> {
    await cluster.loadImages(listWorkloadImages())
    const stores = listStoreHosts(cluster)
    await settleAll(
      stores.map(async (host, index) => host.script(`mkdir -p ${volumeDirectory}/store-${index}`)),
    )
    const nodes = stores.map(({ name }) => name)
    const guard = await buildGuard(new Date())
    await createAll(api, [...listWorkloadObjects(nodes, listWorkers(cluster).length > 1), ...guard.server])
    const workload = new Workload(cluster)
    await workload.waitUntilReady(api)
    await createAll(api, [guard.webhook, ...widgets])
    await pollUntil('the traffic of the workload', async () => workload.#servesTraffic(), {
      timeoutMs: 120_000,
      intervalMs: 1000,
    })
    return workload
  }

  /** Waits until all pods of the workload are ready, and the API server serves its custom resources. */
  async waitUntilReady(api: KubeApi): Promise<void> {
    let pending: readonly string[] = []
    const areReady = async (): Promise<boolean> => {
      pending = ['the API server']
      pending = await listPendingWorkloads(api)
      if (pending.length > 0) return false
      // An API server that has just started refuses custom resources with status 429 until it has read them.
      pending = ['custom resources']
      await readWidgets(api)
      pending = []
      return true
    }
    await pollUntil('the workload to be ready', async () => areReady().catch(() => false), {
      timeoutMs: 300_000,
      intervalMs: 1000,
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; not ready: ${pending.join(', ')}`, { cause: error })
    })
  }

  /** Starts the clients of the workload. `endpoints` are those of the API, as the client host reaches them. */
  async open(
    credentials: Credentials,
    [first, ...others]: readonly [Endpoint, ...Endpoint[]],
  ): Promise<{ readonly stop: (api: KubeApi) => Promise<WorkloadFigures> }> {
    const client = selectClientHost(this.#cluster)
    const address = this.#trafficAddress
    const nodePort = new ServiceLoad(client, { address, port: webNodePort }, rates.nodePort)
    const target = { address, port: ingressNodePort, name: ingressName }
    const ingress = new ServiceLoad(client, target, rates.ingress)
    const writes = new CountedWrites(client, { ...first, others, credentials }, rates.guarded, namespace)
    const linesBefore = (await this.#readLogs()).map((text) => parseStoreLog(text).lines)
    return {
      stop: async (api) => {
        const [nodePortFigures, ingressFigures, guarded] = await Promise.all([
          nodePort.stop(),
          ingress.stop(),
          writes.stop(),
        ])
        const gaps = (await this.#readLogs()).map((text, index) =>
          measureGapSince(text, linesBefore[index] ?? 0),
        )
        return {
          nodePort: nodePortFigures,
          ingress: ingressFigures,
          guarded,
          lost: await findLostWrites(api, guarded, namespace),
          storeGapSeconds: Math.max(...gaps),
        }
      },
    }
  }

  /** Lists what is wrong with the data and the rules of the workload. */
  async findProblems(api: KubeApi): Promise<readonly string[]> {
    const logs = (await this.#readLogs()).map(parseStoreLog)
    return [
      ...logs.flatMap(({ problems }, index) => problems.map((problem) => `store-${index}: ${problem}`)),
      ...(await findWrongSecrets(api)),
      ...(await findWrongWidgets(api)),
      ...(await this.#waitForPolicies(api)),
    ]
  }

  /** Waits for the engine of policies, which follows new pods with a delay. Lists what is still wrong. */
  async #waitForPolicies(api: KubeApi): Promise<readonly string[]> {
    let wrong: readonly string[] = []
    await pollUntil(
      'the NetworkPolicy to be enforced',
      async () => {
        wrong = await this.#findWrongPolicies(api)
        return wrong.length === 0
      },
      { timeoutMs: 60_000, intervalMs: 1000 },
    ).catch(() => undefined)
    return wrong
  }

  /** Reads the names of all pods, and how often their containers started again. */
  async readPods(api: KubeApi): Promise<ReadonlyMap<string, number>> {
    const { items } = podList.parse(await api.get(`/api/v1/namespaces/${namespace}/pods`))
    return new Map(
      items.map(({ metadata, status }) => [
        metadata.uid,
        (status.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0),
      ]),
    )
  }

  /** Address of a node that is not that of the clients. */
  get #trafficAddress(): string {
    const hosts = [...listWorkers(this.#cluster), ...listControlPlanes(this.#cluster)]
    const client = selectClientHost(this.#cluster)
    const host = hosts.find(({ name }) => name !== client.name)
    if (host === undefined) throw new Error('the cluster has one host')
    return host.address
  }

  async #readLogs(): Promise<readonly string[]> {
    return settleAll(
      listStoreHosts(this.#cluster).map(
        async (host, index) => (await host.script(`cat ${volumeDirectory}/store-${index}/log`)).stdout,
      ),
    )
  }

  async #servesTraffic(): Promise<boolean> {
    const client = selectClientHost(this.#cluster)
    const request = async (port: number): Promise<boolean> => {
      const url = `http://${this.#trafficAddress}:${port}/hostname`
      const argv = ['curl', '-sf', '-o', '/dev/null', '-m', '2', '-H', `Host: ${ingressName}`, url] as const
      return (await client.exec(argv, { allowFailure: true })).code === 0
    }
    return (await request(webNodePort)) && request(ingressNodePort)
  }

  /** Checks that the policy lets through what it allows and, if the network has an engine, nothing else. */
  async #findWrongPolicies(api: KubeApi): Promise<readonly string[]> {
    const { items } = podList.parse(await api.get(`/api/v1/namespaces/${namespace}/pods`))
    const select = (app: string) =>
      items.find(({ metadata, status }) => metadata.labels?.['app'] === app && status.podIP !== undefined)
    const [friend, other, vault] = [select('agent'), select('web'), select('vault')]
    const address = vault?.status.podIP
    if (friend === undefined || other === undefined || address === undefined)
      return ['pods have no addresses']
    const allowed = await dialFrom(api, friend.metadata.name, address)
    const forbidden = await dialFrom(api, other.metadata.name, address)
    return findPolicyProblems(allowed, forbidden, this.#cluster.contender.enforcesPolicies)
  }
}

/** Hosts with the volumes of the StatefulSet: the last two. */
function listStoreHosts({ hosts }: Pick<AdoptedCluster, 'hosts'>): readonly Host[] {
  return hosts.slice(-2)
}

async function createAll(api: KubeApi, objects: readonly WorkloadObject[]): Promise<void> {
  for (const { collection, body } of objects) {
    // The API may not serve a new custom resource yet.
    await pollUntil(
      `${collection} to be created`,
      async () => api.ensure(collection, body).then(() => true),
      {
        timeoutMs: 60_000,
      },
    )
  }
}

const podList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({
        name: z.string(),
        uid: z.string(),
        labels: z.record(z.string(), z.string()).optional(),
      }),
      status: z.object({
        podIP: z.string().optional(),
        containerStatuses: z.array(z.object({ restartCount: z.int() })).optional(),
      }),
    }),
  ),
})

const replicatedList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({ replicas: z.int().optional() }),
      status: z.object({
        readyReplicas: z.int().default(0),
        numberReady: z.int().optional(),
        desiredNumberScheduled: z.int().optional(),
      }),
    }),
  ),
})

async function listPendingWorkloads(api: KubeApi): Promise<readonly string[]> {
  const lists = await Promise.all(
    ['deployments', 'statefulsets', 'daemonsets'].map(async (resource) =>
      replicatedList.parse(await api.get(`/apis/apps/v1/namespaces/${namespace}/${resource}`)),
    ),
  )
  return lists.flatMap(({ items }) =>
    items
      .filter(({ spec, status }) =>
        status.desiredNumberScheduled === undefined
          ? status.readyReplicas !== spec.replicas
          : status.numberReady !== status.desiredNumberScheduled || status.desiredNumberScheduled === 0,
      )
      .map(({ metadata }) => metadata.name),
  )
}

const secretSchema = z.object({ data: z.object({ word: z.string() }) })

async function findWrongSecrets(api: KubeApi): Promise<readonly string[]> {
  const wrong: string[] = []
  for (let index = 0; index < objectCount; index++) {
    const { data } = secretSchema.parse(
      await api.get(`/api/v1/namespaces/${namespace}/secrets/word-${index}`),
    )
    if (Buffer.from(data.word, 'base64').toString() !== readExpectedWord(index))
      wrong.push(`the Secret word-${index} has another value`)
  }
  return wrong
}

const widgetList = z.object({
  items: z.array(z.object({ metadata: z.object({ name: z.string() }), spec: z.object({ size: z.int() }) })),
})

async function readWidgets(api: KubeApi): Promise<z.infer<typeof widgetList>> {
  return widgetList.parse(await api.get(`/apis/${widgetGroup}/v1/namespaces/${namespace}/widgets`))
}

async function findWrongWidgets(api: KubeApi): Promise<readonly string[]> {
  const { items } = await readWidgets(api)
  const wrong = items.filter(({ metadata, spec }) => metadata.name !== `widget-${spec.size}`)
  return [
    ...(items.length === objectCount ? [] : [`there are ${items.length} widgets`]),
    ...wrong.map(({ metadata }) => `the widget ${metadata.name} has another value`),
  ]
}

/** Connects from a pod to another one. */
async function dialFrom(api: KubeApi, pod: string, address: string): Promise<DialResult> {
  const query = `dial?host=${address}&port=${podPort}&request=hostname&protocol=http&tries=1`
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}:${podPort}/proxy/${query}`
  return dial(async () => api.get(path))
}
