import { z } from 'zod'
import type { HostStatus } from '../../src/contract/host-resource.ts'
import { createSemaphore, settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { isKubeError } from '../../src/kube/kube-error.ts'
import type { Manifest } from '../../src/kube/object.ts'
import { createObject } from '../../src/kube/write-objects.ts'
import { kwokLabel } from './kwok.ts'
import type { SimulatedAgents } from './simulated-agents.ts'

export const podsPerNode = 10
const namespace = 'crowd'
/** Label of the nodes whose changes are measured. */
export const witnessLabel = { 'hyperkube.dev/lab-witness': 'yes' } as const
const witnessCount = 20

/** Maximum number of concurrent requests. With more, the server throttles and the client waits. */
const maxConcurrency = 16

export function formatNodeName(index: number): string {
  return `crowd-${String(index).padStart(4, '0')}`
}

export const witnessNames: readonly string[] = Array.from({ length: witnessCount }, (_, index) =>
  formatNodeName(index),
)

/** Nodes without machines, with their pods and Host objects. More nodes can be added in steps. */
export class SimulatedNodes {
  readonly #client: KubeClient
  readonly #agents: SimulatedAgents
  readonly #kubelet: string
  #size = 0

  constructor(client: KubeClient, agents: SimulatedAgents, kubelet: string) {
    this.#client = client
    this.#agents = agents
    this.#kubelet = kubelet
  }

  async growTo(size: number, signal: AbortSignal): Promise<void> {
    if (this.#size === 0) await this.#ensure(buildNamespace(), signal)
    const names = Array.from({ length: size - this.#size }, (_, index) => formatNodeName(this.#size + index))
    const limit = createSemaphore(maxConcurrency)
    const tasks = names.map((name, index) =>
      limit(async () => {
        signal.throwIfAborted()
        const number = this.#size + index
        await this.#ensure(buildNode(name, number, this.#kubelet), signal)
        await this.#ensure(buildHost(name, number), signal)
        await this.#agents.add(name, signal)
        for (let pod = 0; pod < podsPerNode; pod++) await this.#ensure(buildPod(name, pod), signal)
      }),
    )
    await settleAll(tasks)
    this.#size = size
  }

  /** Waits until every node is Ready and all controllers have finished their initial work on it. */
  async waitUntilSettled(signal: AbortSignal, timeoutMs: number): Promise<void> {
    const labelSelector = Object.entries(kwokLabel).flat().join('=')
    await pollUntil(
      'all nodes to be ready, to have addresses and the word of their agents',
      async () => {
        const list = await this.#list('/api/v1/nodes', { labelSelector }, signal)
        const { items } = nodeList.parse(list)
        const unsettled = items.filter((node) => !isSettled(node))
        if (items.length === this.#size && unsettled.length === 0) return true
        throw new Error(`${unsettled.length} of ${items.length} are not`)
      },
      { timeoutMs, intervalMs: 3000, signal },
    )
    await pollUntil(
      'all pods to run',
      async () => {
        const query = { fieldSelector: 'status.phase!=Running' }
        const path = `/api/v1/namespaces/${namespace}/pods`
        const { items } = z
          .object({ items: z.array(z.unknown()) })
          .parse(await this.#list(path, query, signal))
        if (items.length > 0) throw new Error(`${items.length} do not`)
        return true
      },
      { timeoutMs, intervalMs: 3000, signal },
    )
  }

  /** Lists objects from the cache of the API server, because slightly stale data is good enough. */
  async #list(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<unknown> {
    return this.#client.request({ method: 'GET', path, query: { ...query, resourceVersion: '0' }, signal })
  }

  /** Creates an object unless it exists. Retries, because a response may be lost. */
  async #ensure(manifest: Manifest, signal: AbortSignal): Promise<void> {
    await pollUntil(
      `${manifest.kind} ${manifest.metadata.name}`,
      async () => {
        await createObject(this.#client, manifest, { signal }).catch((error: unknown) => {
          if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
        })
        return true
      },
      { timeoutMs: 120_000, intervalMs: 1000, signal },
    )
  }
}

const nodeList = z.object({
  items: z.array(
    z.object({
      spec: z.object({
        podCIDR: z.string().optional(),
        taints: z.array(z.object({ key: z.string() })).optional(),
      }),
      status: z.object({
        conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional(),
      }),
    }),
  ),
})

function isSettled({ spec, status }: z.infer<typeof nodeList>['items'][number]): boolean {
  const isTrue = (conditionType: string): boolean =>
    status.conditions?.some(({ type, status: state }) => type === conditionType && state === 'True') === true
  const isTainted = spec.taints?.some(({ key }) => key.startsWith('node.kubernetes.io/')) === true
  return isTrue('Ready') && isTrue('HyperkubeHealthy') && spec.podCIDR !== undefined && !isTainted
}

function buildNamespace(): Manifest {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
}

function formatAddress(number: number): string {
  return `172.30.${number >> 8}.${number & 255}`
}

function buildNode(name: string, number: number, kubelet: string): Manifest {
  const nodeResources = { cpu: '8', memory: '32Gi', pods: '110' }
  const labels = {
    ...kwokLabel,
    ...(number < witnessCount ? witnessLabel : {}),
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
  }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    // The taint keeps away pods that need a real node.
    spec: { taints: [{ key: 'hyperkube.dev/lab', value: 'kwok', effect: 'NoSchedule' }] },
    status: {
      addresses: [
        { type: 'InternalIP', address: formatAddress(number) },
        { type: 'Hostname', address: name },
      ],
      allocatable: nodeResources,
      capacity: nodeResources,
      nodeInfo: {
        ...{ architecture: 'amd64', operatingSystem: 'linux', kubeletVersion: kubelet },
        ...{ containerRuntimeVersion: 'kwok', kernelVersion: 'kwok', kubeProxyVersion: '', osImage: 'kwok' },
        ...{ bootID: '', machineID: '', systemUUID: '' },
      },
    },
  }
}

function buildHost(name: string, number: number): Manifest {
  const names = { dns: [name], ip: [formatAddress(number)] }
  return { apiVersion: 'hyperkube.dev/v1', kind: 'Host', metadata: { name }, spec: { names } }
}

function buildPod(node: string, index: number): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${node}-${index}`, namespace, labels: { app: `crowd-${index}` } },
    spec: {
      nodeName: node,
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10.2' }],
      tolerations: [{ operator: 'Exists' }],
    },
  }
}

/** Removes the parts of a control plane's status that a worker does not report. */
export function toWorkerStatus({ agent, generation, components, certificates }: HostStatus): HostStatus {
  const isWorkerComponent = ({ component }: { readonly component: string }): boolean =>
    !/^(etcd|kube-apiserver$|kube-scheduler$|.*controller-manager$)/.test(component)
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(generation === undefined ? {} : { generation }),
    components: (components ?? []).filter(isWorkerComponent).map(({ component, since }) => ({
      ...{ component, state: 'healthy', since },
    })),
    failing: [],
    actions: [],
    certificates: (certificates ?? []).filter(isWorkerComponent),
    results: [],
  }
}
