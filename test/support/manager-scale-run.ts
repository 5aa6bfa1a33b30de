import { quote } from '../../src/kit/shell.ts'
import { KubeClient } from '../../src/kube/client.ts'
import { hosts } from '../../src/kube/host-resource.ts'
import { until } from '../../src/kit/poll-until.ts'
import { clientOf } from './client-certificate.ts'
import { Crowd, podsPerNode, workerStatus } from './simulated-nodes.ts'
import { CrowdAgents } from './simulated-agents.ts'
import { startKwok, type Kwok } from './kwok.ts'
import { costsOf, type ManagerProcess, ownManager, timeToSync, upstreamManager } from './manager-process.ts'
import type { ManagerFigures, ScaleStep } from './manager-scale-figures.ts'
import { ownLatencies, upstreamLatencies } from './reconcile-latency.ts'
import type { UpCluster } from './up-cluster.ts'

export interface ScaleOptions {
  readonly changes: number
  /** In milliseconds. */
  readonly rest: number
}

/** On the host: who may read the figures of upstream's manager. */
const reader = '/run/manager-scale'

/** A cluster that gets larger from step to step, and what both managers take at each. */
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
    const host = onlyHost(cluster)
    const server = `https://${host.address}:6443`
    // Each under a name of its own: the server gives all who ask the same share.
    const credentials = async (name: string) =>
      clientOf(cluster.identity, 'kubernetes', name, ['hyperkube:admins'])
    const client = async (name: string): Promise<KubeClient> => {
      const { authority, certificate, key } = await credentials(name)
      const own = { certificate, privateKey: key }
      const { signal } = new AbortController()
      return stack.use(new KubeClient({ servers: [server], authority, credentials: own, signal }))
    }
    const { certificate, key } = await credentials('scale-reader')
    await host.script(
      `umask 077; mkdir -p ${reader}\nprintf %s ${quote(certificate)} > ${reader}/client.crt\nprintf %s ${quote(key)} > ${reader}/client.key`,
    )
    const usual = await until(
      'the agent of the host to say how it is',
      async () => {
        const { status } = hosts.schema.parse(
          await cluster.api.get(`/apis/hyperkube.dev/v1/hosts/${host.name}`),
        )
        return status.components !== undefined && workerStatus(status)
      },
      { within: 120_000 },
    )
    const kwok = stack.use(
      await startKwok({ server, credentials: await credentials('kwok'), directory: cluster.directory }),
    )
    const agents = stack.use(new CrowdAgents(await client('scale-agents'), usual))
    const crowd = new Crowd(await client('scale-crowd'), agents, kubelet)
    const onlooker = await client('scale-onlooker')
    return new ManagerScale(cluster, options, { kwok, agents, crowd, onlooker, all: stack.move() })
  }

  async step(nodes: number, signal: AbortSignal): Promise<ScaleStep> {
    const { api } = this.#cluster
    const { crowd, agents, onlooker, kwok } = this.#parts
    const host = onlyHost(this.#cluster)
    const { changes, rest } = this.#options
    const managers: readonly [ManagerProcess, ManagerProcess] = [ownManager, upstreamManager(reader)]
    await crowd.growTo(nodes, signal)
    this.#say(`${nodes} nodes and their pods are there`)
    await crowd.settled(signal, 600_000)
    this.#say('all are settled')
    const syncs: number[] = []
    for (const manager of managers) {
      syncs.push(await timeToSync(host, api, manager, signal))
      this.#say(`${manager.service} knows all after ${((syncs.at(-1) ?? 0) / 1000).toFixed(1)} s`)
    }
    const costs = await costsOf(host, managers, rest)
    signal.throwIfAborted()
    for (const [index, { resident, cpuShare }] of costs.entries()) {
      const name = managers[index]?.service ?? ''
      this.#say(`${name}: ${Math.round(resident / 2 ** 20)} MiB, ${(100 * cpuShare).toFixed(1)} % of a core`)
    }
    const latencies = [
      await ownLatencies(onlooker, agents, changes, signal),
      await upstreamLatencies(onlooker, `scale-${nodes}`, changes, signal),
    ]
    this.#say(`${changes} changes each are seen; ${agents.failed} signs of life had no answer`)
    const fault = await kwok.fault()
    if (fault !== undefined) throw new Error(fault)
    const figures = (index: number): ManagerFigures => {
      const [sync, cost, times] = [syncs[index], costs[index], latencies[index]]
      if (sync === undefined || cost === undefined || times === undefined) throw new Error('there are two')
      return { ...cost, sync, latencies: times }
    }
    return { nodes, pods: podsPerNode * nodes, own: figures(0), upstream: figures(1) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.all.disposeAsync()
  }

  #say(text: string): void {
    process.stderr.write(`${Math.round((performance.now() - this.#began) / 1000)} s: ${text}\n`)
  }
}

interface Parts {
  readonly kwok: Kwok
  readonly agents: CrowdAgents
  readonly crowd: Crowd
  readonly onlooker: KubeClient
  /** All that has to be let go. */
  readonly all: AsyncDisposableStack
}

function onlyHost({ hosts: [host] }: UpCluster) {
  if (host === undefined) throw new Error('there is no host')
  return host
}
