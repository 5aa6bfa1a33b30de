import { z } from 'zod'
import type { HostStatus } from '../../src/contract/host-resource.ts'
import { atOnce } from '../../src/kit/semaphore.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { isKubeError } from '../../src/kube/kube-error.ts'
import type { Manifest } from '../../src/kube/object.ts'
import { create } from '../../src/kube/write-objects.ts'
import type { CrowdAgents } from './simulated-agents.ts'
import { kwokLabel } from './kwok.ts'

export const podsPerNode = 10
const namespace = 'crowd'
/** Those whose nodes are looked at while something is changed about them. */
export const witnessLabel = { 'hyperkube.dev/lab-witness': 'yes' } as const
const witnesses = 20

/** Requests under way at once: the server says by itself when they are too many, and the client waits then. */
const atATime = 16

export function crowdName(index: number): string {
  return `crowd-${String(index).padStart(4, '0')}`
}

export const witnessNames: readonly string[] = Array.from({ length: witnesses }, (_, index) =>
  crowdName(index),
)

/** Nodes without machines, their pods and their host objects: as many as are asked for, in several goes. */
export class Crowd {
  readonly #client: KubeClient
  readonly #agents: CrowdAgents
  readonly #kubelet: string
  #size = 0

  constructor(client: KubeClient, agents: CrowdAgents, kubelet: string) {
    this.#client = client
    this.#agents = agents
    this.#kubelet = kubelet
  }

  async growTo(size: number, signal: AbortSignal): Promise<void> {
    if (this.#size === 0) await this.#ensure(namespaceOf(), signal)
    const names = Array.from({ length: size - this.#size }, (_, index) => crowdName(this.#size + index))
    const oneOf = atOnce(atATime)
    const each = names.map((name, index) =>
      oneOf(async () => {
        signal.throwIfAborted()
        const number = this.#size + index
        await this.#ensure(nodeOf(name, number, this.#kubelet), signal)
        await this.#ensure(hostOf(name, number), signal)
        await this.#agents.add(name, signal)
        for (let pod = 0; pod < podsPerNode; pod++) await this.#ensure(podOf(name, pod), signal)
      }),
    )
    await settleAll(each)
    this.#size = size
  }

  /** Until kubelets, controllers of Kubernetes and those of hyperkube have done with all of them what they do once. */
  async settled(signal: AbortSignal, within: number): Promise<void> {
    const labelSelector = Object.entries(kwokLabel).flat().join('=')
    await until(
      'all nodes to be ready, to have addresses and the word of their agents',
      async () => {
        const list = await this.#list('/api/v1/nodes', { labelSelector }, signal)
        const { items } = nodeList.parse(list)
        const unsettled = items.filter((node) => !isSettled(node))
        if (items.length === this.#size && unsettled.length === 0) return true
        throw new Error(`${unsettled.length} of ${items.length} are not`)
      },
      { within, every: 3000, signal },
    )
    await until(
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
      { within, every: 3000, signal },
    )
  }

  /** From the memory of the server: what is a moment old is as good. */
  async #list(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<unknown> {
    return this.#client.request({ method: 'GET', path, query: { ...query, resourceVersion: '0' }, signal })
  }

  /** Also where an answer was lost, and it is there already. */
  async #ensure(manifest: Manifest, signal: AbortSignal): Promise<void> {
    await until(
      `${manifest.kind} ${manifest.metadata.name}`,
      async () => {
        await create(this.#client, manifest, { signal }).catch((error: unknown) => {
          if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
        })
        return true
      },
      { within: 120_000, every: 1000, signal },
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
  const isTrue = (wanted: string): boolean =>
    status.conditions?.some(({ type, status: state }) => type === wanted && state === 'True') === true
  const isTainted = spec.taints?.some(({ key }) => key.startsWith('node.kubernetes.io/')) === true
  return isTrue('Ready') && isTrue('HyperkubeHealthy') && spec.podCIDR !== undefined && !isTainted
}

function namespaceOf(): Manifest {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
}

function addressOf(number: number): string {
  return `172.30.${number >> 8}.${number & 255}`
}

function nodeOf(name: string, number: number, kubelet: string): Manifest {
  const room = { cpu: '8', memory: '32Gi', pods: '110' }
  const labels = {
    ...kwokLabel,
    ...(number < witnesses ? witnessLabel : {}),
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
  }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    // Nothing that has to run somewhere comes here.
    spec: { taints: [{ key: 'hyperkube.dev/lab', value: 'kwok', effect: 'NoSchedule' }] },
    status: {
      addresses: [
        { type: 'InternalIP', address: addressOf(number) },
        { type: 'Hostname', address: name },
      ],
      allocatable: room,
      capacity: room,
      nodeInfo: {
        ...{ architecture: 'amd64', operatingSystem: 'linux', kubeletVersion: kubelet },
        ...{ containerRuntimeVersion: 'kwok', kernelVersion: 'kwok', kubeProxyVersion: '', osImage: 'kwok' },
        ...{ bootID: '', machineID: '', systemUUID: '' },
      },
    },
  }
}

function hostOf(name: string, number: number): Manifest {
  const names = { dns: [name], ip: [addressOf(number)] }
  return { apiVersion: 'hyperkube.dev/v1', kind: 'Host', metadata: { name }, spec: { names } }
}

function podOf(node: string, index: number): Manifest {
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

/** What an agent on a control plane says, without what only those say. */
export function workerStatus({ agent, generation, components, certificates }: HostStatus): HostStatus {
  const isWorkers = ({ component }: { readonly component: string }): boolean =>
    !/^(etcd|kube-apiserver$|kube-scheduler$|.*controller-manager$)/.test(component)
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(generation === undefined ? {} : { generation }),
    components: (components ?? []).filter(isWorkers).map(({ component, since }) => ({
      ...{ component, state: 'well', since },
    })),
    failing: [],
    actions: [],
    certificates: (certificates ?? []).filter(isWorkers),
    results: [],
  }
}
