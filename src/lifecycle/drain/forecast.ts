import { mapAtMost } from '../../catalog/map-with-concurrency.ts'
import type { Finding } from '../../contract/finding.ts'
import { firstFew } from '../../kit/truncate-list.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { CallOptions } from '../../kube/request.ts'
import { keyOf } from '../../kube/object-store.ts'
import { type Budget, budgetsOf, listBudgets, whyNever } from './disruption-budget.ts'
import { countedTwice } from './remaining-pod-text.ts'
import { boundToNode, losesData } from './local-data.ts'
import { nameOf, type Pod, podsOn } from './pod.ts'
import { sortPods } from './sort-pods.ts'
import { mostNamed, unmanagedFinding } from './unmanaged-pods.ts'

/** What should be known before a node is emptied. Nothing is changed by it. */
export async function drainForecast(
  api: KubeClient,
  node: string,
  options: CallOptions = {},
): Promise<Finding[]> {
  return drainForecasts(api, [node], options)
}

/** The same of several, whose budgets are asked for once. */
export async function drainForecasts(
  api: KubeClient,
  nodes: readonly string[],
  options: CallOptions = {},
): Promise<Finding[]> {
  if (nodes.length === 0) return []
  const budgets = await listBudgets(api, options)
  const all = await mapAtMost(sideBySide, nodes, async (node) => forecastOf(api, node, budgets, options))
  return all.flat()
}

const sideBySide = 8

async function forecastOf(
  api: KubeClient,
  node: string,
  budgets: readonly Budget[],
  options: CallOptions,
): Promise<Finding[]> {
  const { moving, unmanaged } = sortPods(await podsOn(api, node, options))
  const going = [...moving, ...unmanaged]
  const bound = await boundToNode(api, going, options)
  return [
    ...neverFindings(node, going, budgets),
    ...[unmanagedFinding(node, unmanaged)].flatMap((finding) => finding ?? []),
    ...localDataFinding(
      node,
      going.filter(losesData),
      'what these pods have written into volumes of their own (emptyDir) ends with them',
      'if they need it again, let them write it out first',
    ),
    ...localDataFinding(
      node,
      bound,
      `these pods have volumes that are directories of ${node}, and run nowhere else`,
      'they wait until the node takes pods again; before it leaves for good, copy their data',
    ),
  ]
}

function localDataFinding(node: string, pods: readonly Pod[], what: string, hint: string): Finding[] {
  if (pods.length === 0) return []
  return [
    {
      code: 'NODE_PODS_LOCAL_DATA',
      severity: 'warning',
      message: `${what}: ${firstFew(pods.map(nameOf), mostNamed)}`,
      hint,
      host: node,
    },
  ]
}

/** Budgets under which the pods of the node stay, however long one waits. */
export function neverFindings(node: string, pods: readonly Pod[], budgets: readonly Budget[]): Finding[] {
  const counted = pods.map((pod) => ({ pod, own: budgetsOf(pod, budgets) }))
  const twice = counted.filter(({ own }) => own.length > 1)
  const once = counted.filter(({ own }) => own.length === 1)
  return [
    ...twice.map(({ pod, own }) => never(node, `${nameOf(pod)} is never let go: ${countedTwice(own)}`)),
    ...budgets.flatMap((budget) => {
      const kept = once.filter(({ own }) => own[0] === budget).map(({ pod }) => pod)
      const why = whyNever(budget)
      if (kept.length === 0 || why === undefined) return []
      const named = firstFew(kept.map(nameOf), mostNamed)
      return [never(node, `budget ${keyOf(budget.metadata)} never lets ${named} go: ${why}`)]
    }),
  ]
}

function never(node: string, message: string): Finding {
  return {
    code: 'DRAIN_NEVER',
    severity: 'error',
    message,
    hint: 'more replicas, or a budget that allows more: kubectl get poddisruptionbudgets -A',
    host: node,
  }
}
