import { settleAll } from '../../kit/settle-all.ts'
import type { KubeClient } from '../../kube/client.ts'
import { find } from '../../kube/read-objects.ts'
import { nodeKind } from '../cluster-objects/node.ts'
import { whyNotReady } from '../cluster-objects/node-readiness.ts'
import { type Budget, listBudgets } from './disruption-budget.ts'
import type { Hold } from './evictions.ts'
import { holdTexts } from './remaining-pod-text.ts'

/** What keeps a node from being empty, in lines for a person, and what that person may do. */
export interface Obstacles {
  readonly texts: readonly string[]
  readonly hint: string
}

interface Look {
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly timeout: number
}

/** Looks at the budgets and the node behind pods that are still there. */
export async function obstacles(
  api: KubeClient,
  node: string,
  holds: readonly Hold[],
  { now, ...options }: Look,
): Promise<Obstacles> {
  const refused = holds.filter(({ refusal }) => refusal !== undefined)
  const namespaces = [...new Set(refused.map(({ pod }) => pod.metadata.namespace))]
  // Nobody is helped when looking for the cause fails as well.
  const budgets = await settleAll(
    namespaces.map(async (namespace) => listBudgets(api, { namespace, ...options })),
  ).then(
    (all) => all.flat(),
    (): Budget[] => [],
  )
  const unready = await find(api, nodeKind, { name: node }, options).then(whyNotReady, () => undefined)
  const isStuck = unready !== undefined && refused.length < holds.length
  const texts = holdTexts(holds, budgets, now().getTime())
  return {
    texts: isStuck ? [`${node} is not ready, and nothing ends on it: ${unready}`, ...texts] : texts,
    hint: isStuck ? `bring ${node} back` : hintFor(refused, holds),
  }
}

function hintFor(refused: readonly Hold[], holds: readonly Hold[]): string {
  const { namespace, name } = (refused[0] ?? holds[0])?.pod.metadata ?? {}
  if (namespace === undefined) return 'hyperkube status says how the cluster is'
  return refused[0]?.refusal?.byBudget === true
    ? `more replicas, or a budget that allows more: kubectl -n ${namespace} get poddisruptionbudgets; then the same command again`
    : `kubectl -n ${namespace} describe pod ${name} says more; then the same command again`
}
