import { z } from 'zod'
import { isKubeError } from '../../../kube/kube-error.ts'
import { type ProbeApi, RateLimitedCache } from './probe-api.ts'

/** A node of the cluster, with the fields that probes on other nodes need. */
export interface NodeObservation {
  readonly name: string
  readonly ready: boolean
  readonly created: number
  /** Pod subnets of the node, one for each address family. */
  readonly pods: readonly string[]
  /** True if flannel on the node has published its subnet. */
  readonly overlay: boolean
  readonly address: string | undefined
  /** Port of the node's kubelet. */
  readonly port: number
}

/**
 * Media type of the table format of kubectl. A table row is about 40 times smaller than a full Node object.
 */
const tableMediaType = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const tableResponse = z.object({
  columnDefinitions: z.array(z.object({ name: z.string() })),
  rows: z.array(z.object({ cells: z.array(z.unknown()) })).nullish(),
})

const node = z.object({
  metadata: z.object({
    name: z.string(),
    creationTimestamp: z.string(),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({ podCIDRs: z.array(z.string()).default([]) }).prefault({}),
  status: z
    .looseObject({
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
      addresses: z.array(z.object({ type: z.string(), address: z.string() })).default([]),
      daemonEndpoints: z.looseObject({ kubeletEndpoint: z.object({ Port: z.int() }).optional() }).optional(),
    })
    .prefault({}),
})

/**
 * Reads nodes from the API. Names come from a cached table, and only selected nodes are read in full. If
 * every node read all nodes in full, the API load would grow with the square of the cluster size.
 */
export class NodeReader {
  readonly #api: ProbeApi
  readonly #now: () => number
  readonly #names: RateLimitedCache<readonly string[]>
  readonly #known = new Map<string, { readonly at: number; readonly node: NodeObservation }>()

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(api: ProbeApi, now: () => number) {
    this.#api = api
    this.#now = now
    this.#names = new RateLimitedCache(now)
  }

  /** Returns the names of ready nodes in the order of the API. The list may be some minutes old. */
  async listReadyNames(kubeconfig: string, signal: AbortSignal): Promise<readonly string[]> {
    const request = { kubeconfig, path: '/api/v1/nodes', accept: tableMediaType }
    const query = { resourceVersion: '0', includeObject: 'None' }
    return this.#names.get(
      kubeconfig,
      async () => this.#api.text({ ...request, query }, signal),
      parseReadyNames,
    )
  }

  /**
   * Returns a node that was read at most `age` milliseconds ago, or reads it. Returns undefined if the node
   * does not exist.
   */
  async get(
    kubeconfig: string,
    name: string,
    age: number,
    signal: AbortSignal,
  ): Promise<NodeObservation | undefined> {
    const key = `${kubeconfig} ${name}`
    const known = this.#known.get(key)
    if (known !== undefined && this.#now() - known.at < age) return known.node
    const found = await this.#fetch(kubeconfig, name, signal)
    if (found === undefined) this.#known.delete(key)
    else this.#known.set(key, { at: this.#now(), node: found })
    return found
  }

  async #fetch(kubeconfig: string, name: string, signal: AbortSignal): Promise<NodeObservation | undefined> {
    const path = `/api/v1/nodes/${encodeURIComponent(name)}`
    try {
      return parseNode(await this.#api.text({ kubeconfig, path }, signal))
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined
      throw error
    }
  }
}

/**
 * Returns the `count` names that follow `own` in sorted order, wrapping around. If every node checks the
 * names after its own, every node is checked.
 */
export function selectFollowing(names: readonly string[], own: string, count: number): readonly string[] {
  const others = names.filter((name) => name !== own).toSorted()
  const first = others.findIndex((name) => name > own)
  const rotated = first < 0 ? others : [...others.slice(first), ...others.slice(0, first)]
  return rotated.slice(0, count)
}

function parseReadyNames(text: string): readonly string[] {
  const { columnDefinitions, rows } = tableResponse.parse(JSON.parse(text))
  const column = (name: string): number => columnDefinitions.findIndex((one) => one.name === name)
  const [name, status] = [column('Name'), column('Status')]
  return (rows ?? []).flatMap(({ cells }) =>
    // A cordoned node (`Ready,SchedulingDisabled`) is ready too.
    String(cells[status]).split(',').includes('Ready') ? [String(cells[name])] : [],
  )
}

function parseNode(text: string): NodeObservation {
  const { metadata, spec, status } = node.parse(JSON.parse(text))
  return {
    name: metadata.name,
    ready: status.conditions.some((one) => one.type === 'Ready' && one.status === 'True'),
    created: Date.parse(metadata.creationTimestamp),
    pods: spec.podCIDRs,
    overlay: metadata.annotations['flannel.alpha.coreos.com/kube-subnet-manager'] === 'true',
    address: status.addresses.find(({ type }) => type === 'InternalIP')?.address,
    port: status.daemonEndpoints?.kubeletEndpoint?.Port ?? 10_250,
  }
}
