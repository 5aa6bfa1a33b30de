import {
  array,
  assert,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
  type Arbitrary,
} from 'fast-check'
import { expect, test } from 'vitest'
import { hasErrors } from '../contract/finding.ts'
import type { Op } from '../contract/op.ts'
import { compareStages, type Stage, stages } from '../contract/stage.ts'
import { changes, hostPlan, inputOf, liveOf, nothing, type Role, stagesOf } from './testing/fixtures.ts'
import type { Roles, RolloutInput } from './input.ts'
import { maxUnavailable } from './max-unavailable.ts'
import { quorum } from './quorum.ts'
import { rollout } from './rollout.ts'
import { type ApplyStep, isApply } from './step.ts'

/** Each has its fate: whether it is new, whether it answers, and what is to do in each stage. */
const fate = record({
  fresh: constantFrom(false, false, false, true),
  silent: constantFrom(...Array.from({ length: 12 }, (_, index) => index === 0)),
  /** Whether it has a plan though it is silent. */
  planned: constantFrom(false, true),
  kubelet: constantFrom('1.36.4', '1.37.0', '1.37.1'),
  work: array(constantFrom('none', 'quiet', 'loud'), { minLength: stages.length, maxLength: stages.length }),
})

const inputs: Arbitrary<RolloutInput> = record({
  apart: constantFrom(false, true),
  members: integer({ min: 1, max: 5 }),
  controlPlanes: integer({ min: 1, max: 4 }),
  workers: nat(14),
  fates: array(fate, { minLength: 23, maxLength: 23 }),
  birth: constantFrom(false, false, true),
  maxUnavailable: oneof(integer({ min: 1, max: 5 }), constantFrom('10%', '34%', '100%')),
  leader: nat(4),
}).map(({ apart, members, controlPlanes, workers, fates, birth, maxUnavailable: most, leader }) => {
  const wishes: [string, Role[]][] = [
    ...names('e', apart ? members : 0, ['etcd']),
    ...names('cp', apart ? controlPlanes : members, apart ? ['control-plane'] : ['control-plane', 'etcd']),
    ...names('w', workers, ['worker']),
  ]
  const hosts = wishes.flatMap(([name, roles], index) => {
    const one = fates[index]
    return one === undefined ? [] : [{ name, roles, ...one }]
  })
  const all = hosts.map(({ name, roles }) => hostPlan(name, roles))
  const ops = new Map(
    hosts.map(({ name, roles, silent, work }) => [name, silent ? [] : workOf(roles, work)] as const),
  )
  // The first of each kind is never new: without any the cluster would not run.
  const old = all.filter(({ host }, index) => host.endsWith('1') || fates[index]?.fresh !== true)
  const absent = hosts.filter(({ silent, planned }) => silent && !planned)
  return inputOf({
    plans: all.filter(({ host }) => !absent.some(({ name }) => name === host)),
    ops,
    live: birth ? nothing : liveOf(old),
    unreachable: hosts.filter(({ silent }) => silent).map(({ name }) => name),
    wished: new Map(absent.map(({ name, roles }) => [name, wishOf(roles)])),
    maxUnavailable: most,
    kubeletBefore: new Map(hosts.map(({ name, kubelet }) => [name, kubelet])),
    etcdLeader: `cp${leader}`,
  })
})

function names(prefix: string, count: number, roles: Role[]): [string, Role[]][] {
  return Array.from({ length: count }, (_, index) => [`${prefix}${index + 1}`, roles])
}

function wishOf(roles: readonly Role[]): Roles {
  return {
    member: roles.includes('etcd'),
    controlPlane: roles.includes('control-plane'),
    node: roles.some((role) => role !== 'etcd'),
  }
}

function workOf(roles: readonly Role[], work: readonly string[]): Op[] {
  return stagesOf(roles).flatMap((stage) => {
    const wish = work[stages.indexOf(stage)]
    return wish === 'none' ? [] : changes(wish === 'loud', stage)
  })
}

const runs = { numRuns: 1500 }

/** Of all that is not refused. */
function forAll(check: (input: RolloutInput, steps: readonly ApplyStep[]) => void): void {
  assert(
    property(inputs, (input) => {
      const { steps, findings } = rollout(input)
      if (!hasErrors(findings)) check(input, steps.filter(isApply))
    }),
    runs,
  )
}

/** Hosts of a step on which something of the cluster that runs is stopped or restarted, as the ops say it. */
function disturbedBy({ hosts, stages: own }: ApplyStep, { ops, live }: RolloutInput): string[] {
  const running: Readonly<Record<Stage, readonly string[]>> = {
    prepare: [],
    etcd: live.etcd,
    api: live.controlPlanes,
    controllers: live.controlPlanes,
    node: live.nodes,
    network: live.nodes,
  }
  return hosts.filter((host) =>
    (ops.get(host) ?? []).some(
      ({ action, stage }) => action === 'restart' && own.includes(stage) && running[stage].includes(host),
    ),
  )
}

test('an error, or steps: never both; and most of these clusters can be changed', () => {
  let refused = 0
  assert(
    property(inputs, (input) => {
      const { steps, findings } = rollout(input)
      const errors = hasErrors(findings)
      if (errors) refused += 1
      expect(errors && steps.length > 0).toBe(false)
    }),
    runs,
  )
  expect(refused).toBeGreaterThan(runs.numRuns * 0.1)
  expect(refused).toBeLessThan(runs.numRuns * 0.6)
})

test('what is disruptive says so, and never takes two live hosts of the control plane', () => {
  forAll((input, steps) => {
    const core = new Set([...input.live.etcd, ...input.live.controlPlanes])
    for (const step of steps) {
      const disturbed = disturbedBy(step, input)
      expect(step.disruptive).toBe(disturbed.length > 0 || step.drain)
      expect(step.disruptive ? step.hosts.filter((host) => core.has(host)).length : 0).toBeLessThan(2)
    }
  })
})

test('etcd has its quorum at any time', () => {
  forAll((input, steps) => {
    const away = new Set(input.unreachable)
    const voters = new Set(input.live.etcd)
    const well = (down: readonly string[]): number =>
      [...voters].filter((name) => !away.has(name) && !down.includes(name)).length
    const turns = voters.size === 0 ? [] : steps.filter(({ stages: own }) => own.includes('etcd'))
    for (const step of turns) {
      const down = disturbedBy(step, input)
      // One or two members need all of them, so that a restart is a pause: then all others must be well.
      const needed = voters.size > 2 ? quorum(voters.size) : voters.size - down.length
      expect(well(down)).toBeGreaterThanOrEqual(needed)
      const joining = step.hosts.filter((host) => !voters.has(host))
      // A new member is one, and comes to members that are all well.
      expect(joining.length === 0 || (step.hosts.length === 1 && well([]) === voters.size)).toBe(true)
      for (const host of joining) voters.add(host)
    }
  })
})

test('every host that answers is taken through each of its stages once, in their order', () => {
  forAll((input, steps) => {
    const expected = new Map(
      input.plans.map(({ host }) => [host, new Set(input.ops.get(host)?.map(({ stage }) => stage))]),
    )
    for (const [host, touched] of expected) {
      const own = steps.filter(({ hosts }) => hosts.includes(host))
      const through = own.map(({ stage }) => stage)
      expect(through).toEqual([...new Set(through)].toSorted(compareStages))
      for (const stage of touched) expect(own.filter((step) => step.stages.includes(stage))).toHaveLength(1)
      // A step goes through all stages up to its own, so none before it may be left.
      for (const { stages: covered, stage } of own) expect(covered.at(-1)).toBe(stage)
    }
  })
})

test('nobody has a part who has nothing to do, but for members that do not vote yet', () => {
  forAll((input, steps) => {
    const voters = new Set(input.live.etcd)
    for (const { hosts, stages: own } of steps) {
      for (const host of hosts) {
        const joins = own.includes('etcd') && !voters.has(host)
        expect(joins || (input.ops.get(host) ?? []).some(({ stage }) => own.includes(stage))).toBe(true)
        expect(input.unreachable).not.toContain(host)
      }
    }
  })
})

test('all API servers come before any kubelet', () => {
  forAll((_, steps) => {
    const last = steps.findLastIndex(({ stages: own }) => own.includes('api'))
    const first = steps.findIndex(({ stages: own }) => own.includes('node'))
    expect(first === -1 || last < first).toBe(true)
  })
})

test('never more workers are away than may be', () => {
  forAll((input, steps) => {
    const core = new Set([...input.live.controlPlanes, ...input.live.etcd])
    const workers = input.live.nodes.filter((name) => !core.has(name))
    const most = maxUnavailable(input.maxUnavailable, workers.length)
    const silent = workers.filter((name) => input.unreachable.includes(name))
    const batches = steps.filter(
      (step) => step.disruptive && step.hosts.some((host) => workers.includes(host)),
    )
    for (const { hosts } of batches) expect(hosts.length + silent.length).toBeLessThanOrEqual(most)
  })
})

test('pods are moved away from just those whose kubelet changes its minor version', () => {
  forAll((input, steps) => {
    for (const step of steps.filter(({ stages: own }) => own.includes('node'))) {
      for (const host of step.hosts) {
        const touched = (input.ops.get(host) ?? []).some(({ stage }) => stage === 'node')
        const moves = input.live.nodes.includes(host) && touched && input.kubeletBefore.get(host) === '1.36.4'
        expect(step.drain).toBe(moves)
      }
    }
  })
})

test('the order of the input says nothing, every step has a name of its own, and there are few', () => {
  assert(
    property(inputs, nat(), (input, turn) => {
      const result = rollout(input)
      expect(rollout(turned(input, turn))).toEqual(result)
      const { steps } = result
      expect(new Set(steps.map(({ id }) => id)).size).toBe(steps.length)
      expect(steps.length).toBeLessThanOrEqual(stages.length * input.plans.length)
    }),
    runs,
  )
})

function turned(input: RolloutInput, turn: number): RolloutInput {
  const turnedList = <T>(list: readonly T[]): T[] => {
    const at = list.length === 0 ? 0 : turn % list.length
    return [...list.slice(at), ...list.slice(0, at)].toReversed()
  }
  const { etcd, controlPlanes, nodes } = input.live
  return {
    ...input,
    plans: turnedList(input.plans),
    ops: new Map(turnedList([...input.ops])),
    live: { etcd: turnedList(etcd), controlPlanes: turnedList(controlPlanes), nodes: turnedList(nodes) },
    unreachable: turnedList(input.unreachable),
    wished: new Map(turnedList([...input.wished])),
    kubeletBefore: new Map(turnedList([...input.kubeletBefore])),
  }
}
