import { array, assert, constantFrom, integer, nat, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { hasErrors } from '../contract/finding.ts'
import { changes, hostPlan, inputOf, liveOf } from './testing/fixtures.ts'
import type { Leaving } from './input.ts'
import { quorum } from './quorum.ts'
import { rollout } from './rollout.ts'
import type { Step } from './step.ts'

const controlPlane = { member: true, controlPlane: true, node: true }
const worker = { member: false, controlPlane: false, node: true }

/** Some stay, some come, some go; of those that go some are lost, and on those that stay something may change. */
const clusters = record({
  staying: integer({ min: 0, max: 4 }),
  coming: nat(3),
  leaving: array(constantFrom(true, true, false), { maxLength: 3 }),
  workers: array(constantFrom(true, false), { maxLength: 2 }),
  loud: constantFrom(true, false),
}).map(({ staying, coming, leaving, workers, loud }) => {
  const named = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => hostPlan(`${prefix}${index + 1}`, ['control-plane', 'etcd']))
  const [old, fresh] = [named('cp', staying), named('new', coming)]
  const goers: Leaving[] = [
    ...leaving.map((answers, index) => ({ host: `gone${index + 1}`, answers, live: controlPlane })),
    ...workers.map((answers, index) => ({ host: `w${index + 1}`, answers, live: worker })),
  ]
  const live = liveOf(old)
  const members = goers.filter((goer) => goer.live.member).map(({ host }) => host)
  return inputOf({
    plans: [...old, ...fresh],
    ops: new Map([
      ...old.map(({ host }) => [host, loud ? changes(true, 'etcd', 'api') : []] as const),
      ...fresh.map(({ host }) => [host, changes(false, 'prepare', 'etcd', 'api')] as const),
    ]),
    live: { ...live, etcd: [...live.etcd, ...members], nodes: [...live.nodes, ...members] },
    leaving: goers,
  })
})

test('whoever comes and goes, etcd has its quorum at every moment, and ends with those that are wished', () => {
  assert(
    property(clusters, (input) => {
      const lost = new Set(input.leaving.filter(({ answers }) => !answers).map(({ host }) => host))
      const voters = new Set(input.live.etcd)
      const well = (): number => [...voters].filter((name) => !lost.has(name)).length
      // Without one nobody could say who the members are, and there would be no input like this.
      if (voters.size === 0 || well() < quorum(voters.size)) return
      const { steps, findings } = rollout(input)
      if (hasErrors(findings)) return
      expect(steps.flatMap((step) => follow(step, voters, well))).toEqual([])
      expect([...voters].toSorted()).toEqual(input.plans.map(({ host }) => host).toSorted())
    }),
    { numRuns: 2000 },
  )
})

test('what is refused is refused for a reason: somebody who knows everything must stay or have come', () => {
  let refused = 0
  assert(
    property(clusters, (input) => {
      const { findings } = rollout(input)
      if (!hasErrors(findings)) return
      refused++
      expect(input.plans.length === 0 || input.live.etcd.length === 0).toBe(true)
    }),
    { numRuns: 2000 },
  )
  expect(refused).toBeLessThan(500)
})

/** What is wrong with a step, and who votes after it. */
function follow(step: Step, voters: Set<string>, well: () => number): string[] {
  const hasQuorum = (away = 0): boolean => well() - away >= quorum(voters.size)
  if (step.what === 'leave') {
    const before = hasQuorum()
    if (step.live.member) voters.delete(step.host)
    return before && hasQuorum() ? [] : [`${step.id} leaves no quorum`]
  }
  if (!step.stages.includes('etcd')) return []
  const joining = step.hosts.filter((name) => !voters.has(name))
  // etcd takes nobody while somebody is away.
  const refused = joining.length > 0 && well() !== voters.size
  for (const host of joining) voters.add(host)
  const away = step.disruptive ? step.hosts.length : 0
  // One or two need all of them, so that a restart is a pause; then all others must be well.
  const kept = voters.size > 2 ? hasQuorum(away) : well() === voters.size
  return [
    ...(refused ? [`${step.id} is refused while somebody is away`] : []),
    ...(kept ? [] : [`${step.id} takes the quorum`]),
  ]
}
