import type { Look } from '../observe/observe-cluster.ts'
import { explains } from './causes.ts'
import { type Diagnosis, keyOf } from './diagnosis.ts'
import { rankOf } from './code-order.ts'
import { apiOfAll } from './rules/api.ts'
import { awayHosts } from './rules/unreachable-hosts.ts'
import { unwellComponents } from './rules/components.ts'
import { cutOffHosts } from './rules/cut-off-hosts.ts'
import { fullDisks } from './rules/disks.ts'
import { drifted } from './rules/drift.ts'
import { etcdOfAll } from './rules/etcd.ts'
import { unreadyNodes } from './rules/nodes.ts'
import { pausedHosts } from './rules/paused.ts'
import { failingProbes } from './rules/probes.ts'
import { silentAgents } from './rules/unreachable-agents.ts'

/** Each looks for one kind of trouble, and knows nothing of the others. */
const rules: readonly ((look: Look) => readonly Diagnosis[])[] = [
  awayHosts,
  cutOffHosts,
  silentAgents,
  fullDisks,
  failingProbes,
  unwellComponents,
  drifted,
  etcdOfAll,
  apiOfAll,
  unreadyNodes,
  pausedHosts,
]

/** All that is wrong: each cause with what comes of it behind it, the worst first. Nothing of a cluster that is well. */
export function diagnose(look: Look): Diagnosis[] {
  const found = Map.groupBy(
    rules.flatMap((rule) => rule(look)),
    keyOf,
  )
  // Of those who say the same the first has seen the most.
  const all = [...found.values()].flatMap(([first]) => first ?? []).toSorted(byRank)
  const causes = new Map(
    all.map((effect) => [effect, all.find((cause) => explains(cause, effect, look.places))]),
  )
  const rootOf = (start: Diagnosis): Diagnosis => {
    let root = start
    // Whatever the tables say, nobody goes round in circles.
    for (const seen = new Set<Diagnosis>(); !seen.has(root); root = causes.get(root) ?? root) seen.add(root)
    return root
  }
  return all
    .filter((one) => rootOf(one) === one)
    .toSorted(bySeverity)
    .flatMap((root) => [
      root,
      ...all
        .filter((one) => one !== root && rootOf(one) === root)
        .map((effect) => ({ ...effect, follows: keyOf(root), needsPerson: false })),
    ])
}

/** Those of a kind stay in the order of cluster.yml. */
function byRank(a: Diagnosis, b: Diagnosis): number {
  return rankOf(a.code) - rankOf(b.code)
}

function bySeverity(a: Diagnosis, b: Diagnosis): number {
  return Number(a.severity === 'warning') - Number(b.severity === 'warning')
}
