import type { TestCa } from '../../../kit/testing/test-ca.ts'
import type {
  ReceivedRequest,
  TestResponse,
  HttpsTestServer,
} from '../../../kit/testing/https-test-server.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { createKubeTestBench } from '../../../kube/testing/kube-test-bench.ts'
import { applyMergePatch } from '../../../kit/merge-patch.ts'
import { type DisruptionBudget, findBudgets } from '../disruption-budget.ts'
import type { Pod } from '../pod.ts'
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

/** In-memory API of one node. An evicted pod ends at once if its budgets allow the eviction. */
export class FakeNodeApi {
  node: Node | undefined = nodeKind.schema.parse({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'w1', resourceVersion: '1' },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  })
  pods: Pod[]
  budgets: DisruptionBudget[] = []
  /** PersistentVolumeClaims and PersistentVolumes, by request path. */
  readonly others = new Map<string, object>()
  /** Names of pods that terminate slowly. */
  readonly slow = new Set<string>()
  /** Called before a request is served. A returned response replaces the regular response. */
  intercept: (request: ReceivedRequest) => TestResponse | undefined = () => undefined
  /** Called for each pod that has ended. */
  onGone: (pod: Pod) => void = () => undefined

  constructor(...pods: readonly Pod[]) {
    this.pods = [...pods]
  }

  readonly respond = (request: ReceivedRequest): TestResponse =>
    this.intercept(request) ?? this.#serve(request)

  /** Ends a slow pod. */
  end(name: string): void {
    for (const pod of this.pods.filter(({ metadata }) => metadata.name === name)) {
      this.pods = this.pods.filter((other) => other !== pod)
      this.onGone(pod)
    }
  }

  #serve({ method, path, body }: ReceivedRequest): TestResponse {
    if (path === '/api/v1/nodes/w1') return method === 'PATCH' ? this.#patch(body) : foundResponse(this.node)
    if (path === '/api/v1/pods') return listResponse(this.pods)
    if (path.endsWith('/poddisruptionbudgets')) {
      const [, namespace] = /namespaces\/([^/]+)/.exec(path) ?? []
      return listResponse(
        this.budgets.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
      )
    }
    const [, namespace, name, part] = /\/namespaces\/([^/]+)\/pods\/([^/]+)(\/eviction)?$/.exec(path) ?? []
    if (name === undefined) return foundResponse(this.others.get(path))
    const pod = this.pods.find(({ metadata: own }) => own.namespace === namespace && own.name === name)
    if (pod === undefined) return foundResponse(undefined)
    return part === undefined ? this.#remove(pod) : this.#evict(pod)
  }

  #patch(body: unknown): TestResponse {
    const { metadata } = this.node ?? {}
    const { resourceVersion } = Object(Object(body).metadata)
    if (metadata === undefined) return foundResponse(undefined)
    if (resourceVersion !== metadata.resourceVersion)
      return refusalResponse(409, 'Conflict', 'it was changed')
    const patched = Object(applyMergePatch(this.node, body))
    const version = String(Number(metadata.resourceVersion) + 1)
    this.node = { ...patched, metadata: { ...patched.metadata, resourceVersion: version } }
    return foundResponse(this.node)
  }

  #evict(pod: Pod): TestResponse {
    const [budget, ...more] = findBudgets(pod, this.budgets)
    if (more.length > 0) return refusalResponse(500, '', 'This pod has more than one PodDisruptionBudget')
    if (budget?.status !== undefined) {
      const { name } = budget.metadata
      const cause = { reason: 'DisruptionBudget', message: `The disruption budget ${name} needs more` }
      if (budget.status.disruptionsAllowed === 0)
        return refusalResponse(429, 'TooManyRequests', 'Cannot', [cause])
      budget.status.disruptionsAllowed--
    }
    return this.#remove(pod)
  }

  #remove(pod: Pod): TestResponse {
    const { name } = pod.metadata
    if (!this.slow.has(name)) this.end(name)
    else pod.metadata.deletionTimestamp ??= '2026-11-15T12:00:00Z'
    return { status: 201, json: { kind: 'Status', status: 'Success' } }
  }
}

/** Serves a fake API and returns a client that is closed after the test. */
export function createNodeApiServer(
  ca: () => TestCa,
): (api: FakeNodeApi) => Promise<{ readonly client: KubeClient; readonly server: HttpsTestServer }> {
  const { serve, createClient } = createKubeTestBench(ca)
  return async (api) => {
    const server = await serve(api.respond)
    return { server, client: createClient([server.url]) }
  }
}

function foundResponse(object: object | undefined): TestResponse {
  return object === undefined ? refusalResponse(404, 'NotFound', 'not found') : { json: object }
}

function listResponse(items: readonly object[]): TestResponse {
  return { json: { metadata: { resourceVersion: '1' }, items } }
}

function refusalResponse(
  status: number,
  reason: string,
  message: string,
  causes: readonly object[] = [],
): TestResponse {
  return { status, json: { kind: 'Status', reason, message, details: { causes } } }
}
