import type { Finding } from '../../contract/finding.ts'
import { mapWithConcurrency } from '../../kit/concurrency.ts'
import { truncateList } from '../../kit/text.ts'
import type { KubeClient } from '../../kube/client.ts'
import { formatObjectKey } from '../../kube/object-store.ts'
import type { KubeCallOptions } from '../../kube/request.ts'
import { type DisruptionBudget, explainImpossible, findBudgets, listBudgets } from './disruption-budget.ts'
import { formatOverlappingBudgets } from './drain-blockers.ts'
import { findNodeBoundPods, hasEphemeralData } from './local-data.ts'
import {
  buildUnmanagedFinding,
  formatPodName,
  listNodePods,
  maxNamedPods,
  type Pod,
  sortPods,
} from './pod.ts'

/** Predicts problems of draining a node. Changes nothing. */
export async function forecastDrain(
  api: KubeClient,
  node: string,
  options: KubeCallOptions = {},
): Promise<Finding[]> {
  return forecastDrains(api, [node], options)
}

/** Predicts problems of draining several nodes. Budgets are listed only once. */
export async function forecastDrains(
  api: KubeClient,
  nodes: readonly string[],
  options: KubeCallOptions = {},
): Promise<Finding[]> {
  if (nodes.length === 0) return []
  const budgets = await listBudgets(api, options)
  const all = await mapWithConcurrency(maxConcurrent, nodes, async (node) =>
    forecastNode(api, node, budgets, options),
  )
  return all.flat()
}

const maxConcurrent = 8

async function forecastNode(
  api: KubeClient,
  node: string,
  budgets: readonly DisruptionBudget[],
  options: KubeCallOptions,
): Promise<Finding[]> {
  const { moving, unmanaged } = sortPods(await listNodePods(api, node, options))
  const podsToEvict = [...moving, ...unmanaged]
  const bound = await findNodeBoundPods(api, podsToEvict, options)
  return [
    ...findImpossibleEvictions(node, podsToEvict, budgets),
    ...[buildUnmanagedFinding(node, unmanaged)].flatMap((finding) => finding ?? []),
    ...localDataFinding(
      node,
      podsToEvict.filter(hasEphemeralData),
      'the drain deletes the emptyDir data of these pods',
      'copy the data that you need before the drain',
    ),
    ...localDataFinding(
      node,
      bound,
      `these pods use local volumes of ${node} and cannot run on another node`,
      'the pods stay pending until the node is uncordoned; copy their data before you remove the node',
    ),
  ]
}

function localDataFinding(node: string, pods: readonly Pod[], what: string, hint: string): Finding[] {
  if (pods.length === 0) return []
  return [
    {
      code: 'NODE_PODS_LOCAL_DATA',
      severity: 'warning',
      message: `${what}: ${truncateList(pods.map(formatPodName), maxNamedPods)}`,
      hint,
      host: node,
    },
  ]
}

/**
 * Finds pods that can never be evicted, because a budget never allows it or several budgets select the pod.
 */
function findImpossibleEvictions(
  node: string,
  pods: readonly Pod[],
  budgets: readonly DisruptionBudget[],
): Finding[] {
  const counted = pods.map((pod) => ({ pod, own: findBudgets(pod, budgets) }))
  const twice = counted.filter(({ own }) => own.length > 1)
  const once = counted.filter(({ own }) => own.length === 1)
  return [
    ...twice.map(({ pod, own }) =>
      buildImpossibleFinding(
        node,
        `${formatPodName(pod)} can never be evicted: ${formatOverlappingBudgets(own)}`,
      ),
    ),
    ...budgets.flatMap((budget) => {
      const blocked = once.filter(({ own }) => own[0] === budget).map(({ pod }) => pod)
      const reason = explainImpossible(budget)
      if (blocked.length === 0 || reason === undefined) return []
      const named = truncateList(blocked.map(formatPodName), maxNamedPods)
      return [
        buildImpossibleFinding(
          node,
          `PodDisruptionBudget ${formatObjectKey(budget.metadata)} never allows the eviction of ${named}: ${reason}`,
        ),
      ]
    }),
  ]
}

function buildImpossibleFinding(node: string, message: string): Finding {
  return {
    code: 'DRAIN_IMPOSSIBLE',
    severity: 'error',
    message,
    hint: 'add replicas or relax the PodDisruptionBudget: kubectl get poddisruptionbudgets -A',
    host: node,
  }
}
