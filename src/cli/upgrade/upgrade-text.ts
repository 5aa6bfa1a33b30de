import type { UpgradePlan, UpgradeStep } from '../../actions/plan-upgrade.ts'
import { countWorkerDrains } from '../../catalog/upgrade-steps.ts'
import { formatCount, joinNames } from '../../kit/text.ts'
import { type Cluster, isWorkerHost } from '../../spec/cluster.ts'

/** Formats the whole path of an upgrade: versions, drains of workers and snapshots. */
export function formatUpgradePlan(
  { metadata, spec }: Cluster,
  plan: UpgradePlan,
  { snapshot }: { readonly snapshot: boolean },
): string {
  const { from, steps } = plan
  const last = steps.at(-1) ?? from
  const heading =
    from.kubernetes === last.kubernetes && from.workers === last.workers
      ? `${metadata.name} has Kubernetes ${last.kubernetes} in cluster.yml; bringing all hosts to it`
      : `upgrade of ${metadata.name} from Kubernetes ${formatFrom(plan)} to ${last.kubernetes}, in ${formatCount(steps.length, 'step')}:`
  const rows = steps.map((step, index) => `  ${index + 1}. ${describeStep(step, steps[index - 1] ?? from)}\n`)
  const workers = spec.hosts.filter(isWorkerHost).map(({ name }) => name)
  const snapshots = steps.filter(({ needsSnapshot }) => needsSnapshot).length
  return [
    `${heading}\n`,
    ...(steps.length > 1 || !steps.every(({ isCurrent }) => isCurrent) ? rows : []),
    ...(workers.length === 0
      ? []
      : [`  drains of each worker (${joinNames(workers)}): ${countWorkerDrains(from, steps)}\n`]),
    snapshot
      ? `  snapshots, each verified by a restore: ${snapshots}\n`
      : '  snapshots: none, because of --no-snapshot\n',
  ].join('')
}

function formatFrom({ from }: UpgradePlan): string {
  return from.workers === from.kubernetes ? from.kubernetes : `${from.kubernetes} (workers ${from.workers})`
}

function describeStep(
  { kubernetes, workers, etcd, isCurrent, needsSnapshot }: UpgradeStep,
  before: UpgradePlan['from'],
): string {
  const ofWorkers = workers === before.workers ? `stay at ${workers}` : workers
  const parts = [
    `control planes ${kubernetes}`,
    `etcd ${etcd}`,
    `workers ${isCurrent ? workers : ofWorkers}`,
    ...(isCurrent ? ['finishes an interrupted change'] : []),
    ...(needsSnapshot ? ['after a snapshot'] : []),
  ]
  return parts.join(', ')
}
