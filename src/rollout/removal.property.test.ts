import { array, assert, constantFrom, integer, nat, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { hasErrors } from '../contract/finding.ts'
import { buildChanges, buildHostPlan, buildRolloutInput, toLiveHosts } from './testing/fixtures.ts'
import type { RemovedHost } from './input.ts'
import { quorumSize } from '../kit/quorum.ts'
import { planRollout } from './rollout.ts'
import type { RolloutStep } from './step.ts'

const controlPlane = { member: true, controlPlane: true, node: true }
const worker = { member: false, controlPlane: false, node: true }

/**
 * Clusters in which some hosts stay, some join and some are removed. Removed hosts may be unreachable;
 * staying hosts may change.
 */
const clusters = record({
  staying: integer({ min: 0, max: 4 }),
  coming: nat(3),
  removals: array(constantFrom(true, true, false), { maxLength: 3 }),
  workers: array(constantFrom(true, false), { maxLength: 2 }),
  disruptive: constantFrom(true, false),
}).map(({ staying, coming, removals, workers, disruptive }) => {
  const named = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      buildHostPlan(`${prefix}${index + 1}`, ['control-plane', 'etcd']),
    )
  const [old, fresh] = [named('cp', staying), named('new', coming)]
  const removed: RemovedHost[] = [
    ...removals.map((reachable, index): RemovedHost => ({
      host: `removed${index + 1}`,
      reachable,
      live: controlPlane,
    })),
    ...workers.map((reachable, index): RemovedHost => ({
      host: `w${index + 1}`,
      reachable,
      live: worker,
    })),
  ]
  const live = toLiveHosts(old)
  const members = removed.filter(({ live: roles }) => roles.member).map(({ host }) => host)
  return buildRolloutInput({
    plans: [...old, ...fresh],
    ops: new Map([
      ...old.map(({ host }) => [host, disruptive ? buildChanges(true, 'etcd', 'api') : []] as const),
      ...fresh.map(({ host }) => [host, buildChanges(false, 'prepare', 'etcd', 'api')] as const),
    ]),
    live: { ...live, etcd: [...live.etcd, ...members], nodes: [...live.nodes, ...members] },
    removedHosts: removed,
  })
})

test('while hosts join and are removed, etcd keeps its quorum and ends with the desired members', () => {
  assert(
    property(clusters, (input) => {
      const lost = new Set(input.removedHosts.filter(({ reachable }) => !reachable).map(({ host }) => host))
      const voters = new Set(input.live.etcd)
      const countHealthy = (): number => [...voters].filter((name) => !lost.has(name)).length
      // Without a quorum the etcd members cannot be read, so this input cannot occur.
      if (voters.size === 0 || countHealthy() < quorumSize(voters.size)) return
      const { steps, findings } = planRollout(input)
      if (hasErrors(findings)) return
      expect(steps.flatMap((step) => applyStep(step, voters, countHealthy))).toEqual([])
      expect([...voters].toSorted()).toEqual(input.plans.map(({ host }) => host).toSorted())
    }),
    { numRuns: 2000 },
  )
})

test('a rollout is refused only if no member with the data would remain', () => {
  let refused = 0
  assert(
    property(clusters, (input) => {
      const { findings } = planRollout(input)
      if (!hasErrors(findings)) return
      refused++
      expect(input.plans.length === 0 || input.live.etcd.length === 0).toBe(true)
    }),
    { numRuns: 2000 },
  )
  expect(refused).toBeLessThan(500)
})

/** Updates the voters and lists rules that the step violates. */
function applyStep(step: RolloutStep, voters: Set<string>, countHealthy: () => number): string[] {
  const hasQuorum = (down = 0): boolean => countHealthy() - down >= quorumSize(voters.size)
  if (step.kind === 'remove') {
    const before = hasQuorum()
    if (step.live.member) voters.delete(step.host)
    return before && hasQuorum() ? [] : [`${step.id} leaves no quorum`]
  }
  if (!step.stages.includes('etcd')) return []
  const joining = step.hosts.filter((name) => !voters.has(name))
  // etcd accepts no new member while an existing member is down.
  const refused = joining.length > 0 && countHealthy() !== voters.size
  for (const host of joining) voters.add(host)
  const down = step.disruptive ? step.hosts.length : 0
  // With one or two members every restart loses the quorum for a short time. Such a step is allowed only if
  // all members are healthy before it.
  const hasNeeded = voters.size > 2 ? hasQuorum(down) : countHealthy() === voters.size
  return [
    ...(refused ? [`${step.id} is refused while a member is down`] : []),
    ...(hasNeeded ? [] : [`${step.id} takes the quorum`]),
  ]
}
