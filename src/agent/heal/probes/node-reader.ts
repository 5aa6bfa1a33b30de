import { z } from 'zod'
import { isKubeError } from '../../../kube/kube-error.ts'
import type { ProbeApi } from './probe-api.ts'
import { Kept } from './rate-limited-cache.ts'

/** A node of the cluster, as far as its neighbours care. */
export interface NodeSeen {
  readonly name: string
  readonly ready: boolean
  /** Milliseconds since 1970. */
  readonly created: number
  /** The network of its pods. */
  readonly pods: string | undefined
  /** Whether flannel there has told the others of it. */
  readonly overlay: boolean
  readonly address: string | undefined
  /** Of its kubelet. */
  readonly port: number
}

/** As kubectl gets it: a line for each node, of which a whole one would be forty times as long. */
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const tableAnswer = z.object({
  columnDefinitions: z.array(z.object({ name: z.string() })),
  rows: z.array(z.object({ cells: z.array(z.unknown()) })).nullish(),
})

const node = z.object({
  metadata: z.object({
    name: z.string(),
    creationTimestamp: z.string(),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({ podCIDR: z.string().optional() }).default({}),
  status: z
    .looseObject({
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
      addresses: z.array(z.object({ type: z.string(), address: z.string() })).default([]),
      daemonEndpoints: z.looseObject({ kubeletEndpoint: z.object({ Port: z.int() }).optional() }).optional(),
    })
    .prefault({}),
})

/**
 * The nodes of the cluster, at a price that does not grow with its square: names from a table that is kept, and of the few
 * that somebody wants to know more about, more, once.
 */
export class Nodes {
  readonly #api: ProbeApi
  readonly #now: () => number
  readonly #names: Kept<readonly string[]>
  readonly #known = new Map<string, { readonly at: number; readonly node: NodeSeen }>()

  /** `now` in milliseconds, by a clock that nobody sets. */
  constructor(api: ProbeApi, now: () => number) {
    this.#api = api
    this.#now = now
    this.#names = new Kept(now)
  }

  /** Of those that are ready, in their order; may be some minutes old. */
  async names(kubeconfig: string, signal: AbortSignal): Promise<readonly string[]> {
    const question = { kubeconfig, path: '/api/v1/nodes', accept: table }
    const query = { resourceVersion: '0', includeObject: 'None' }
    return this.#names.get(kubeconfig, async () => this.#api.text({ ...question, query }, signal), readyNames)
  }

  /** One of them, as it was less than so many milliseconds ago; undefined when there is none. */
  async one(
    kubeconfig: string,
    name: string,
    age: number,
    signal: AbortSignal,
  ): Promise<NodeSeen | undefined> {
    const key = `${kubeconfig} ${name}`
    const known = this.#known.get(key)
    if (known !== undefined && this.#now() - known.at < age) return known.node
    const found = await this.#ask(kubeconfig, name, signal)
    if (found === undefined) this.#known.delete(key)
    else this.#known.set(key, { at: this.#now(), node: found })
    return found
  }

  async #ask(kubeconfig: string, name: string, signal: AbortSignal): Promise<NodeSeen | undefined> {
    const path = `/api/v1/nodes/${encodeURIComponent(name)}`
    try {
      return nodeIn(await this.#api.text({ kubeconfig, path }, signal))
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined
      throw error
    }
  }
}

/** Those that come after one by name; after the last comes the first. So all together ask about all. */
export function following(names: readonly string[], own: string, count: number): readonly string[] {
  const others = names.filter((name) => name !== own).toSorted()
  const first = others.findIndex((name) => name > own)
  const turn = first < 0 ? others : [...others.slice(first), ...others.slice(0, first)]
  return turn.slice(0, count)
}

function readyNames(text: string): readonly string[] {
  const { columnDefinitions, rows } = tableAnswer.parse(JSON.parse(text))
  const column = (name: string): number => columnDefinitions.findIndex((one) => one.name === name)
  const [name, status] = [column('Name'), column('Status')]
  return (rows ?? []).flatMap(({ cells }) =>
    // With `SchedulingDisabled` behind it, it is ready all the same.
    String(cells[status]).split(',').includes('Ready') ? [String(cells[name])] : [],
  )
}

function nodeIn(text: string): NodeSeen {
  const { metadata, spec, status } = node.parse(JSON.parse(text))
  return {
    name: metadata.name,
    ready: status.conditions.some((one) => one.type === 'Ready' && one.status === 'True'),
    created: Date.parse(metadata.creationTimestamp),
    pods: spec.podCIDR,
    overlay: metadata.annotations['flannel.alpha.coreos.com/kube-subnet-manager'] === 'true',
    address: status.addresses.find(({ type }) => type === 'InternalIP')?.address,
    port: status.daemonEndpoints?.kubeletEndpoint?.Port ?? 10_250,
  }
}
