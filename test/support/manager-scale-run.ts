import { pollUntil } from '../../src/kit/poll.ts'
import { quoteShell } from '../../src/kit/text.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { hostKind } from '../../src/kube/host-resource.ts'
import { issueClientCertificate } from './client-certificate.ts'
import { type Kwok, startKwok } from './kwok.ts'
import {
  type ManagerProcess,
  measureCosts,
  measureSyncTime,
  ownManager,
  upstreamManager,
} from './manager-process.ts'
import type { ManagerFigures, ScaleStep } from './manager-scale-figures.ts'
import { measureOwnLatencies, measureUpstreamLatencies } from './reconcile-latency.ts'
import { SimulatedAgents } from './simulated-agents.ts'
import { podsPerNode, SimulatedNodes, toWorkerStatus } from './simulated-nodes.ts'
import type { UpCluster } from './up-cluster.ts'

export interface ScaleOptions {
  readonly changes: number
  /** Duration of the idle measurement in milliseconds. */
  readonly restMs: number
}

/** Directory on the host with a client certificate that may read the metrics of kube-controller-manager. */
const readerDirectory = '/run/manager-scale'

/**
 * A cluster that grows step by step. At each step, the controller managers of hyperkube and Kubernetes are
 * measured.
 */
export class ManagerScale implements AsyncDisposable {
  readonly kwok: string
  readonly #cluster: UpCluster
  readonly #options: ScaleOptions
  readonly #parts: Parts
  readonly #began = performance.now()

  private constructor(cluster: UpCluster, options: ScaleOptions, parts: Parts) {
    this.#cluster = cluster
    this.#options = options
    this.#parts = parts
    this.kwok = parts.kwok.version
  }

  static async open(cluster: UpCluster, kubelet: string, options: ScaleOptions): Promise<ManagerScale> {
    await using stack = new AsyncDisposableStack()
    const host = getOnlyHost(cluster)
    const server = `https://${host.address}:6443`
    // Each client has its own user name, because the API server shares its capacity equally between users.
    const credentials = async (name: string) =>
      issueClientCertificate(cluster.identity, 'kubernetes', name, ['hyperkube:admins'])
    const client = async (name: string): Promise<KubeClient> => {
      const { ca, certificate, key } = await credentials(name)
      const clientCredentials = { certificate, privateKey: key }
      const { signal } = new AbortController()
      return stack.use(new KubeClient({ servers: [server], ca, credentials: clientCredentials, signal }))
    }
    const { certificate, key } = await credentials('scale-reader')
    await host.script(
      `umask 077; mkdir -p ${readerDirectory}\nprintf %s ${quoteShell(certificate)} > ${readerDirectory}/client.crt\nprintf %s ${quoteShell(key)} > ${readerDirectory}/client.key`,
    )
    const template = await pollUntil(
      'the agent of the host to report its status',
      async () => {
        const { status } = hostKind.schema.parse(
          await cluster.api.get(`/apis/hyperkube.dev/v1/hosts/${host.name}`),
        )
        return status.components !== undefined && toWorkerStatus(status)
      },
      { timeoutMs: 120_000 },
    )
    const kwok = stack.use(
      await startKwok({ server, credentials: await credentials('kwok'), directory: cluster.directory }),
    )
    const agents = stack.use(new SimulatedAgents(await client('scale-agents'), template))
    const simulatedNodes = new SimulatedNodes(await client('scale-crowd'), agents, kubelet)
    const watchClient = await client('scale-onlooker')
    return new ManagerScale(cluster, options, {
      kwok,
      agents,
      simulatedNodes,
      watchClient,
      disposables: stack.move(),
    })
  }

  async step(nodes: number, signal: AbortSignal): Promise<ScaleStep> {
    const { api } = this.#cluster
    const { simulatedNodes, agents, watchClient, kwok } = this.#parts
    const host = getOnlyHost(this.#cluster)
    const { changes, restMs } = this.#options
    const managers: readonly [ManagerProcess, ManagerProcess] = [ownManager, upstreamManager(readerDirectory)]
    await simulatedNodes.growTo(nodes, signal)
    this.#log(`${nodes} nodes and their pods are there`)
    await simulatedNodes.waitUntilSettled(signal, 600_000)
    this.#log('all are settled')
    const syncs: number[] = []
    for (const manager of managers) {
      syncs.push(await measureSyncTime(host, api, manager, signal))
      this.#log(`${manager.service} synced after ${((syncs.at(-1) ?? 0) / 1000).toFixed(1)} s`)
    }
    const costs = await measureCosts(host, managers, restMs)
    signal.throwIfAborted()
    for (const [index, { resident, cpuShare }] of costs.entries()) {
      const name = managers[index]?.service ?? ''
      this.#log(`${name}: ${Math.round(resident / 2 ** 20)} MiB, ${(100 * cpuShare).toFixed(1)} % of a core`)
    }
    const latencies = [
      await measureOwnLatencies(watchClient, agents, changes, signal),
      await measureUpstreamLatencies(watchClient, `scale-${nodes}`, changes, signal),
    ]
    this.#log(`${changes} changes each are seen; ${agents.failed} heartbeats failed`)
    const failure = await kwok.readFailure()
    if (failure !== undefined) throw new Error(failure)
    const figures = (index: number): ManagerFigures => {
      const [sync, cost, times] = [syncs[index], costs[index], latencies[index]]
      if (sync === undefined || cost === undefined || times === undefined) throw new Error('there are two')
      return { ...cost, sync, latencies: times }
    }
    return { nodes, pods: podsPerNode * nodes, own: figures(0), upstream: figures(1) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposables.disposeAsync()
  }

  #log(text: string): void {
    process.stderr.write(`${Math.round((performance.now() - this.#began) / 1000)} s: ${text}\n`)
  }
}

interface Parts {
  readonly kwok: Kwok
  readonly agents: SimulatedAgents
  readonly simulatedNodes: SimulatedNodes
  readonly watchClient: KubeClient
  /** Disposes all clients and processes of the run. */
  readonly disposables: AsyncDisposableStack
}

function getOnlyHost({ hosts: [host] }: UpCluster) {
  if (host === undefined) throw new Error('there is no host')
  return host
}
