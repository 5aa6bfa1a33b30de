import type { TestAuthority } from '../../../kit/testing/test-ca.ts'
import type { Asked, TestAnswer, TestServer } from '../../../kit/testing/https-test-server.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { testBench } from '../../../kube/testing/kube-test-bench.ts'
import { mergePatch } from '../../../kit/merge-patch.ts'
import { type Budget, budgetsOf } from '../disruption-budget.ts'
import type { Pod } from '../pod.ts'
import { type Node, nodeKind } from '../../cluster-objects/node.ts'

type Metadata = Partial<Pod['metadata']>

export interface PodWish extends Metadata {
  readonly controller?: string
  readonly spec?: Partial<Pod['spec']>
  readonly phase?: string
  readonly ready?: boolean
}

/** A pod that runs, made by a ReplicaSet unless another controller is named; '' is none. */
export function podNamed(
  name: string,
  { controller = 'ReplicaSet', spec, phase = 'Running', ready = true, ...metadata }: PodWish = {},
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

/** A budget of all pods that are named app: web. */
export function budgetNamed(
  name: string,
  spec: Partial<Budget['spec']>,
  status: Partial<Budget['status']> = {},
): Budget {
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

/** What an API knows of one node, in memory: its pods end when they are evicted, as their budgets allow. */
export class TestNodeApi {
  node: Node | undefined = nodeKind.schema.parse({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'w1', resourceVersion: '1' },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  })
  pods: Pod[]
  budgets: Budget[] = []
  /** By path: claims and volumes. */
  readonly others = new Map<string, object>()
  /** Names of pods that take their time to end. */
  readonly slow = new Set<string>()
  /** Is asked before anything else; an answer of its own stands for that of the API. */
  intercept: (asked: Asked) => TestAnswer | undefined = () => undefined
  /** Hears of each pod that is gone. */
  gone: (pod: Pod) => void = () => undefined

  constructor(...pods: readonly Pod[]) {
    this.pods = [...pods]
  }

  readonly answer = (asked: Asked): TestAnswer => this.intercept(asked) ?? this.#serve(asked)

  /** Ends one that took its time. */
  end(name: string): void {
    for (const pod of this.pods.filter(({ metadata }) => metadata.name === name)) {
      this.pods = this.pods.filter((other) => other !== pod)
      this.gone(pod)
    }
  }

  #serve({ method, path, body }: Asked): TestAnswer {
    if (path === '/api/v1/nodes/w1') return method === 'PATCH' ? this.#patch(body) : found(this.node)
    if (path === '/api/v1/pods') return listOf(this.pods)
    if (path.endsWith('/poddisruptionbudgets')) {
      const [, namespace] = /namespaces\/([^/]+)/.exec(path) ?? []
      return listOf(
        this.budgets.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
      )
    }
    const [, namespace, name, part] = /\/namespaces\/([^/]+)\/pods\/([^/]+)(\/eviction)?$/.exec(path) ?? []
    if (name === undefined) return found(this.others.get(path))
    const pod = this.pods.find(({ metadata: own }) => own.namespace === namespace && own.name === name)
    if (pod === undefined) return found(undefined)
    return part === undefined ? this.#remove(pod) : this.#evict(pod)
  }

  #patch(body: unknown): TestAnswer {
    const { metadata } = this.node ?? {}
    const { resourceVersion } = Object(Object(body).metadata)
    if (metadata === undefined) return found(undefined)
    if (resourceVersion !== metadata.resourceVersion) return refusal(409, 'Conflict', 'it was changed')
    const patched = Object(mergePatch(this.node, body))
    const version = String(Number(metadata.resourceVersion) + 1)
    this.node = { ...patched, metadata: { ...patched.metadata, resourceVersion: version } }
    return found(this.node)
  }

  #evict(pod: Pod): TestAnswer {
    const [budget, ...more] = budgetsOf(pod, this.budgets)
    if (more.length > 0) return refusal(500, '', 'This pod has more than one PodDisruptionBudget')
    if (budget?.status !== undefined) {
      const { name } = budget.metadata
      const cause = { reason: 'DisruptionBudget', message: `The disruption budget ${name} needs more` }
      if (budget.status.disruptionsAllowed === 0) return refusal(429, 'TooManyRequests', 'Cannot', [cause])
      budget.status.disruptionsAllowed--
    }
    return this.#remove(pod)
  }

  #remove(pod: Pod): TestAnswer {
    const { name } = pod.metadata
    if (!this.slow.has(name)) this.end(name)
    else pod.metadata.deletionTimestamp ??= '2026-11-15T12:00:00Z'
    return { status: 201, json: { kind: 'Status', status: 'Success' } }
  }
}

/** Serves one, for a client that is gone after the test. */
export function nodeBench(
  authority: () => TestAuthority,
): (api: TestNodeApi) => Promise<{ readonly client: KubeClient; readonly server: TestServer }> {
  const { serve, clientOf } = testBench(authority)
  return async (api) => {
    const server = await serve(api.answer)
    return { server, client: clientOf([server.url]) }
  }
}

function found(object: object | undefined): TestAnswer {
  return object === undefined ? refusal(404, 'NotFound', 'not found') : { json: object }
}

function listOf(items: readonly object[]): TestAnswer {
  return { json: { metadata: { resourceVersion: '1' }, items } }
}

function refusal(
  status: number,
  reason: string,
  message: string,
  causes: readonly object[] = [],
): TestAnswer {
  return { status, json: { kind: 'Status', reason, message, details: { causes } } }
}
