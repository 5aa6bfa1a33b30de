import {
  type Arbitrary,
  array,
  assert,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
} from 'fast-check'
import { expect, test } from 'vitest'
import { compareStages, type Stage, stages } from '../contract/component-plan.ts'
import { hasErrors } from '../contract/finding.ts'
import type { Op } from '../contract/op.ts'
import { resolveMaxUnavailable } from './cluster-state.ts'
import type { HostRoles, RolloutInput } from './input.ts'
import { quorumSize } from '../kit/quorum.ts'
import { planRollout } from './rollout.ts'
import { type ApplyStep, isApplyStep } from './step.ts'
import {
  buildChanges,
  buildHostPlan,
  buildRolloutInput,
  type FixtureRole,
  listRoleStages,
  noLiveHosts,
  toLiveHosts,
} from './testing/fixtures.ts'

/**
 * One host: whether it is new, whether it is unreachable, its kubelet version and the kind of ops in each
 * stage.
 */
const hostState = record({
  fresh: constantFrom(false, false, false, true),
  silent: constantFrom(...Array.from({ length: 12 }, (_, index) => index === 0)),
  /** Whether an unreachable host has a plan. */
  planned: constantFrom(false, true),
  kubelet: constantFrom('1.36.4', '1.37.0', '1.37.1'),
  work: array(constantFrom('none', 'quiet', 'loud'), { minLength: stages.length, maxLength: stages.length }),
})

const inputs: Arbitrary<RolloutInput> = record({
  apart: constantFrom(false, true),
  members: integer({ min: 1, max: 5 }),
  controlPlanes: integer({ min: 1, max: 4 }),
  workers: nat(14),
  fates: array(hostState, { minLength: 23, maxLength: 23 }),
  bootstrap: constantFrom(false, false, true),
  maxUnavailable: oneof(integer({ min: 1, max: 5 }), constantFrom('10%', '34%', '100%')),
  leader: nat(4),
}).map(({ apart, members, controlPlanes, workers, fates, bootstrap, maxUnavailable: max, leader }) => {
  const roleEntries: [string, FixtureRole[]][] = [
    ...nameHosts('e', apart ? members : 0, ['etcd']),
    ...nameHosts(
      'cp',
      apart ? controlPlanes : members,
      apart ? ['control-plane'] : ['control-plane', 'etcd'],
    ),
    ...nameHosts('w', workers, ['worker']),
  ]
  const hosts = roleEntries.flatMap(([name, roles], index) => {
    const one = fates[index]
    return one === undefined ? [] : [{ name, roles, ...one }]
  })
  const all = hosts.map(({ name, roles }) => buildHostPlan(name, roles))
  const ops = new Map(
    hosts.map(({ name, roles, silent, work }) => [name, silent ? [] : buildOps(roles, work)] as const),
  )
  // The first host of each kind is never new, because a running cluster needs a host of each kind.
  const old = all.filter(({ host }, index) => host.endsWith('1') || fates[index]?.fresh !== true)
  const absent = hosts.filter(({ silent, planned }) => silent && !planned)
  return buildRolloutInput({
    plans: all.filter(({ host }) => !absent.some(({ name }) => name === host)),
    ops,
    live: bootstrap ? noLiveHosts : toLiveHosts(old),
    unreachable: hosts.filter(({ silent }) => silent).map(({ name }) => name),
    desiredRoles: new Map(absent.map(({ name, roles }) => [name, toRoles(roles)])),
    maxUnavailable: max,
    currentKubelets: new Map(hosts.map(({ name, kubelet }) => [name, kubelet])),
    etcdLeader: `cp${leader}`,
  })
})

function nameHosts(prefix: string, count: number, roles: FixtureRole[]): [string, FixtureRole[]][] {
  return Array.from({ length: count }, (_, index) => [`${prefix}${index + 1}`, roles])
}

function toRoles(roles: readonly FixtureRole[]): HostRoles {
  return {
    member: roles.includes('etcd'),
    controlPlane: roles.includes('control-plane'),
    node: roles.some((role) => role !== 'etcd'),
  }
}

function buildOps(roles: readonly FixtureRole[], work: readonly string[]): Op[] {
  return listRoleStages(roles).flatMap((stage) => {
    const change = work[stages.indexOf(stage)]
    return change === 'none' ? [] : buildChanges(change === 'loud', stage)
  })
}

const runs = { numRuns: 1500 }

/** Runs a check for all inputs whose rollout has no errors. */
function forAll(check: (input: RolloutInput, steps: readonly ApplyStep[]) => void): void {
  assert(
    property(inputs, (input) => {
      const { steps, findings } = planRollout(input)
      if (!hasErrors(findings)) check(input, steps.filter(isApplyStep))
    }),
    runs,
  )
}

/** Lists the hosts of a step on which a live service is stopped or restarted, according to the ops. */
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

test('a rollout with errors has no steps, and at most 60 % of the generated clusters are refused', () => {
  let refused = 0
  assert(
    property(inputs, (input) => {
      const { steps, findings } = planRollout(input)
      const errors = hasErrors(findings)
      if (errors) refused += 1
      expect(errors && steps.length > 0).toBe(false)
    }),
    runs,
  )
  expect(refused).toBeGreaterThan(runs.numRuns * 0.1)
  expect(refused).toBeLessThan(runs.numRuns * 0.6)
})

test('a step that restarts live services is disruptive and contains at most one live control plane or etcd host', () => {
  forAll((input, steps) => {
    const core = new Set([...input.live.etcd, ...input.live.controlPlanes])
    for (const step of steps) {
      const disturbed = disturbedBy(step, input)
      expect(step.disruptive).toBe(disturbed.length > 0 || step.drain)
      expect(step.disruptive ? step.hosts.filter((host) => core.has(host)).length : 0).toBeLessThan(2)
    }
  })
})

test('etcd keeps its quorum during every step', () => {
  forAll((input, steps) => {
    const unreachableNames = new Set(input.unreachable)
    const voters = new Set(input.live.etcd)
    const countHealthy = (down: readonly string[]): number =>
      [...voters].filter((name) => !unreachableNames.has(name) && !down.includes(name)).length
    const etcdSteps = voters.size === 0 ? [] : steps.filter(({ stages: own }) => own.includes('etcd'))
    for (const step of etcdSteps) {
      const down = disturbedBy(step, input)
      // With one or two members every restart loses the quorum for a short time. Such a step is allowed if
      // all other members are healthy.
      const needed = voters.size > 2 ? quorumSize(voters.size) : voters.size - down.length
      expect(countHealthy(down)).toBeGreaterThanOrEqual(needed)
      const joining = step.hosts.filter((host) => !voters.has(host))
      // Members join one at a time, and only if all members are healthy.
      expect(joining.length === 0 || (step.hosts.length === 1 && countHealthy([]) === voters.size)).toBe(true)
      for (const host of joining) voters.add(host)
    }
  })
})

test('an API server restarts only while all others are ready, and once together with its etcd member', () => {
  forAll((input, steps) => {
    const servers = input.live.controlPlanes.filter((host) => !input.unreachable.includes(host))
    const adds = input.plans.some(
      ({ host }) =>
        !input.live.controlPlanes.includes(host) && input.ops.get(host)?.some(({ stage }) => stage === 'api'),
    )
    for (const step of steps.filter(({ disruptive, stages: own }) => disruptive && own.includes('api'))) {
      const [host = ''] = step.hosts
      const ready = step.before.flatMap((gate) => (gate.kind === 'api-ready' ? gate.hosts : []))
      expect(ready).toEqual(expect.arrayContaining(servers.filter((name) => name !== host)))
      expect(ready).not.toContain(host)
      expect(step.after).toContainEqual({ kind: 'api-ready', hosts: [host] })
      const restarts = (stage: Stage): boolean =>
        (input.ops.get(host) ?? []).some((op) => op.stage === stage && op.action === 'restart')
      const together = input.live.etcd.includes(host) && restarts('etcd') && !adds
      expect(step.stages).toEqual(together ? ['etcd', 'api'] : ['api'])
    }
  })
})

test('every host with a plan passes each of its stages once, in stage order', () => {
  forAll((input, steps) => {
    const expected = new Map(
      input.plans.map(({ host }) => [host, new Set(input.ops.get(host)?.map(({ stage }) => stage))]),
    )
    for (const [host, touched] of expected) {
      const own = steps.filter(({ hosts }) => hosts.includes(host))
      const through = own.map(({ stage }) => stage)
      expect(through).toEqual([...new Set(through)].toSorted(compareStages))
      for (const stage of touched) expect(own.filter((step) => step.stages.includes(stage))).toHaveLength(1)
      // A step applies all stages up to its `stage`, so `stages` must end with it.
      for (const { stages: covered, stage } of own) expect(covered.at(-1)).toBe(stage)
    }
  })
})

test('a step contains only reachable hosts that have ops in its stages or join etcd', () => {
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

test('all API servers are changed before any kubelet', () => {
  forAll((_, steps) => {
    const last = steps.findLastIndex(({ stages: own }) => own.includes('api'))
    const first = steps.findIndex(({ stages: own }) => own.includes('node'))
    expect(first === -1 || last < first).toBe(true)
  })
})

test('restarted and unreachable workers together never exceed maxUnavailable', () => {
  forAll((input, steps) => {
    const core = new Set([...input.live.controlPlanes, ...input.live.etcd])
    const workers = input.live.nodes.filter((name) => !core.has(name))
    const max = resolveMaxUnavailable(input.maxUnavailable, workers.length)
    const silent = workers.filter((name) => input.unreachable.includes(name))
    const batches = steps.filter(
      (step) => step.disruptive && step.hosts.some((host) => workers.includes(host)),
    )
    for (const { hosts } of batches) expect(hosts.length + silent.length).toBeLessThanOrEqual(max)
  })
})

test('exactly the nodes whose kubelet changes its minor version are drained', () => {
  forAll((input, steps) => {
    for (const step of steps.filter(({ stages: own }) => own.includes('node'))) {
      for (const host of step.hosts) {
        const touched = (input.ops.get(host) ?? []).some(({ stage }) => stage === 'node')
        const moves =
          input.live.nodes.includes(host) && touched && input.currentKubelets.get(host) === '1.36.4'
        expect(step.drain).toBe(moves)
      }
    }
  })
})

test('the rollout does not depend on the input order, and its step ids are unique', () => {
  assert(
    property(inputs, nat(), (input, offset) => {
      const result = planRollout(input)
      expect(planRollout(rotated(input, offset))).toEqual(result)
      const { steps } = result
      expect(new Set(steps.map(({ id }) => id)).size).toBe(steps.length)
      expect(steps.length).toBeLessThanOrEqual(stages.length * input.plans.length)
    }),
    runs,
  )
})

function rotated(input: RolloutInput, offset: number): RolloutInput {
  const rotateList = <T>(list: readonly T[]): T[] => {
    const at = list.length === 0 ? 0 : offset % list.length
    return [...list.slice(at), ...list.slice(0, at)].toReversed()
  }
  const { etcd, controlPlanes, nodes } = input.live
  return {
    ...input,
    plans: rotateList(input.plans),
    ops: new Map(rotateList([...input.ops])),
    live: { etcd: rotateList(etcd), controlPlanes: rotateList(controlPlanes), nodes: rotateList(nodes) },
    unreachable: rotateList(input.unreachable),
    desiredRoles: new Map(rotateList([...input.desiredRoles])),
    currentKubelets: new Map(rotateList([...input.currentKubelets])),
  }
}
