import type { ClusterHealthObservation } from '../observe/observe-cluster.ts'
import { isCauseOf } from './causes.ts'
import { type Diagnosis, formatDiagnosisKey, rankCode } from './diagnosis.ts'
import { findUnreadyAddons } from './rules/addons.ts'
import { checkApiServers, findUnreadyNodes } from './rules/api.ts'
import { findFullDisks, findUnhealthyComponents } from './rules/components.ts'
import { findDrift, findPausedHosts } from './rules/drift.ts'
import { checkEtcdCluster } from './rules/etcd.ts'
import { findUnservedIngresses } from './rules/ingress.ts'
import { findNodeProblems } from './rules/nodes.ts'
import { findFailingProbes } from './rules/probes.ts'
import { findUnfinishedRestore } from './rules/restore.ts'
import { findCutOffHosts, findUnreachableAgents, findUnreachableHosts } from './rules/unreachable.ts'

/** Each rule finds one kind of problem and does not depend on the other rules. */
const rules: readonly ((observation: ClusterHealthObservation) => readonly Diagnosis[])[] = [
  findUnfinishedRestore,
  findUnreachableHosts,
  findCutOffHosts,
  findUnreachableAgents,
  findFullDisks,
  findFailingProbes,
  findUnhealthyComponents,
  findDrift,
  checkEtcdCluster,
  checkApiServers,
  findUnreadyNodes,
  findNodeProblems,
  findUnreadyAddons,
  findUnservedIngresses,
  findPausedHosts,
]

/** Lists all problems: each cause followed by its effects, errors first. Empty for a healthy cluster. */
export function diagnose(observation: ClusterHealthObservation): Diagnosis[] {
  const diagnosesByKey = Map.groupBy(
    rules.flatMap((rule) => rule(observation)),
    formatDiagnosisKey,
  )
  // Several rules may report the same problem. The report of the earliest rule is kept, because it has the
  // most evidence.
  const diagnoses = [...diagnosesByKey.values()].flatMap(([first]) => first ?? []).toSorted(byRank)
  const causes = new Map(
    diagnoses.map((effect) => [
      effect,
      diagnoses.find((cause) => isCauseOf(cause, effect, { endpoints: observation.endpoints, diagnoses })),
    ]),
  )
  const findRoot = (start: Diagnosis): Diagnosis => {
    let root = start
    // The set of visited diagnoses ends the loop even if the causes form a cycle.
    for (const visited = new Set<Diagnosis>(); !visited.has(root); root = causes.get(root) ?? root)
      visited.add(root)
    return root
  }
  return diagnoses
    .filter((diagnosis) => findRoot(diagnosis) === diagnosis)
    .toSorted(bySeverity)
    .flatMap((root) => [
      root,
      ...diagnoses
        .filter((diagnosis) => diagnosis !== root && findRoot(diagnosis) === root)
        .map((effect) => ({ ...effect, causedBy: formatDiagnosisKey(root), needsOperator: false })),
    ])
}

/** Sorts by rank. The sort is stable, so diagnoses with the same code stay in the order of cluster.yml. */
function byRank(a: Diagnosis, b: Diagnosis): number {
  return rankCode(a.code) - rankCode(b.code)
}

function bySeverity(a: Diagnosis, b: Diagnosis): number {
  return Number(a.severity === 'warning') - Number(b.severity === 'warning')
}
