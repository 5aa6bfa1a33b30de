import type { TestCa } from '../../../kit/testing/test-ca.ts'
import type {
  ReceivedRequest,
  TestResponse,
  HttpsTestServer,
} from '../../../kit/testing/https-test-server.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { FakeKubeApi } from '../../../kube/testing/fake-kube-api.ts'
import { createKubeTestBench } from '../../../kube/testing/kube-test-bench.ts'
import { type DisruptionBudget, findBudgets } from '../disruption-budget.ts'
import { type Pod, podKind } from '../pod.ts'
import { type Node, nodeKind } from '../../cluster-objects/node.ts'

type Metadata = Partial<Pod['metadata']>

export interface PodFixture extends Metadata {
  readonly controller?: string
  readonly spec?: Partial<Pod['spec']>
  readonly phase?: string
  readonly ready?: boolean
}

/**
 * Builds a running pod. Its controller is a ReplicaSet unless another kind is given; '' means a pod without a
 * controller.
 */
export function buildPod(
  name: string,
  { controller = 'ReplicaSet', spec, phase = 'Running', ready = true, ...metadata }: PodFixture = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-of-${name}`,
      labels: { app: 'web' },
      finalizers: [],
      ownerReferences: controller === '' ? [] : [{ kind: controller, name: 'web', controller: true }],
      ...metadata,
    },
    spec: { nodeName: 'w1', volumes: [], tolerations: [], ...spec },
    status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }
}

/** A budget that selects all pods with the label app: web. */
export function buildBudget(
  name: string,
  spec: Partial<DisruptionBudget['spec']>,
  status: Partial<DisruptionBudget['status']> = {},
): DisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'shop', generation: 1 },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    status: {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
      ...status,
    },
  }
}

const nodePath = '/api/v1/nodes/w1'
const podsPath = '/api/v1/namespaces/shop/pods'
const budgetsPath = '/apis/policy/v1/namespaces/shop/poddisruptionbudgets'

/** Node w1 and its pods in a fake API. An evicted pod ends at once if its budgets allow the eviction. */
export class DrainedNode {
  readonly api = new FakeKubeApi()
  #budgets: readonly DisruptionBudget[] = []
  /** Names of pods that terminate slowly. */
  readonly slow = new Set<string>()
  /** Called before a request is served. A returned response replaces the regular response. */
  onRequest: (request: ReceivedRequest) => TestResponse | undefined = () => undefined
  /** Called for each pod that has ended. */
  onGone: (pod: Pod) => void = () => undefined

  constructor(...pods: readonly Pod[]) {
    this.api.put(nodePath, {
      apiVersion: 'v1',
      kind: 'Node',
      spec: {},
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    })
    for (const pod of pods) this.addPod(pod)
    this.api.onRequest = (request) => this.onRequest(request) ?? this.#endPod(request)
  }

  get node(): Node | undefined {
    const node = this.api.get(nodePath)
    return node === undefined ? undefined : nodeKind.schema.parse(node)
  }

  /** Changes the node with a merge patch, as an administrator or the kubelet would. */
  changeNode(patch: object): void {
    this.api.change(nodePath, patch)
  }

  removeNode(): void {
    this.api.remove(nodePath)
  }

  get pods(): Pod[] {
    return this.api.all(podsPath).map((pod) => podKind.schema.parse(pod))
  }

  addPod(pod: Pod): void {
    this.api.put(`${podsPath}/${pod.metadata.name}`, pod)
  }

  /** Replaces all budgets. */
  setBudgets(...budgets: readonly DisruptionBudget[]): void {
    for (const { metadata } of this.#budgets) this.api.remove(`${budgetsPath}/${metadata.name}`)
    this.#budgets = budgets
    for (const budget of budgets) this.api.put(`${budgetsPath}/${budget.metadata.name}`, budget)
  }

  /** Ends a pod at once, even a pod that terminates slowly. */
  end(name: string): void {
    const pod = this.pods.find(({ metadata }) => metadata.name === name)
    if (pod === undefined) return
    this.api.remove(`${podsPath}/${name}`)
    this.onGone(pod)
  }

  /** Handles evictions and deletions of pods as the API and the kubelet would. */
  #endPod({ method, path }: ReceivedRequest): TestResponse | undefined {
    const [, name, eviction] = /\/pods\/([^/]+)(\/eviction)?$/.exec(path) ?? []
    const isEviction = method === 'POST' && eviction !== undefined
    if (!isEviction && method !== 'DELETE') return undefined
    const pod = this.pods.find(({ metadata }) => metadata.name === name)
    if (pod === undefined) return buildRefusal(404, 'NotFound', 'not found')
    const refusal = isEviction ? this.#countDisruption(pod) : undefined
    if (refusal !== undefined) return refusal
    const deletionTimestamp = pod.metadata.deletionTimestamp ?? '2026-11-15T12:00:00Z'
    if (this.slow.has(pod.metadata.name))
      this.api.change(`${podsPath}/${pod.metadata.name}`, { metadata: { deletionTimestamp } })
    else this.end(pod.metadata.name)
    return { status: 201, json: { kind: 'Status', status: 'Success' } }
  }

  /** Takes one disruption from the budget of a pod. Returns a refusal if the budget allows none. */
  #countDisruption(pod: Pod): TestResponse | undefined {
    const [budget, ...more] = findBudgets(pod, this.#budgets)
    if (more.length > 0) return buildRefusal(500, '', 'This pod has more than one PodDisruptionBudget')
    if (budget?.status === undefined) return undefined
    const { name } = budget.metadata
    const cause = { reason: 'DisruptionBudget', message: `The disruption budget ${name} needs more` }
    if (budget.status.disruptionsAllowed === 0) return buildRefusal(429, 'TooManyRequests', 'Cannot', [cause])
    budget.status.disruptionsAllowed--
    this.api.put(`${budgetsPath}/${name}`, budget)
    return undefined
  }
}

/** Serves a fake API and returns a client that is closed after the test. */
export function createNodeApiServer(
  ca: () => TestCa,
): (node: DrainedNode) => Promise<{ readonly client: KubeClient; readonly server: HttpsTestServer }> {
  const { serve, createClient } = createKubeTestBench(ca)
  return async ({ api }) => {
    const server = await serve(api.respond)
    return { server, client: createClient([server.url]) }
  }
}

function buildRefusal(
  status: number,
  reason: string,
  message: string,
  causes: readonly object[] = [],
): TestResponse {
  return { status, json: { kind: 'Status', reason, message, details: { causes } } }
}
