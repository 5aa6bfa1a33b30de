import { array, assert, constantFrom, property, record, subarray, type Arbitrary } from 'fast-check'
import { expect, test } from 'vitest'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { type Stage, stages } from '../contract/stage.ts'
import { diff } from './diff.ts'
import { artifactOf, componentOf, fileOf, planOf, unitOf } from './testing/fixtures.ts'
import { type PresentItem, thingOf } from './resource.ts'
import { items, presentAfter } from './plan-resources.ts'

const few = constantFrom('1', '2')

/** Components whose names, paths and versions come from a small pool, so that two plans meet often. */
function componentNamed(name: string, stage: Stage) {
  return record({
    users: subarray(['root', name]),
    modules: subarray(['overlay', 'vxlan']),
    sysctl: array(few, { maxLength: 1 }),
    directories: array(constantFrom('/shared', `/etc/${name}`), { maxLength: 2 }),
    mode: constantFrom('0700', '0755'),
    versions: array(few, { maxLength: 1 }),
    shared: array(few, { maxLength: 1 }),
    images: subarray(['pause:1', 'pause:2']),
    files: array(
      record({
        path: constantFrom('/f', `/${name}`, `/${name}/2`),
        text: few,
        restart: constantFrom(true, false),
      }),
      {
        maxLength: 3,
      },
    ),
    derived: array(few, { maxLength: 1 }),
    unit: array(few, { maxLength: 1 }),
  }).map((wish) =>
    componentOf({
      name,
      stage,
      users: wish.users,
      modules: wish.modules,
      sysctls: Object.fromEntries(wish.sysctl.map((value) => ['vm.swappiness', value])),
      directories: wish.directories.map((path) => ({ path, owner: 'root', mode: wish.mode })),
      artifacts: [
        ...wish.versions.map((version) => artifactOf(name, version)),
        ...wish.shared.map((version) => artifactOf('shared', version)),
      ],
      images: wish.images,
      files: wish.files.map(({ path, text, restart }) => fileOf(path, text, restart)),
      derivedFiles: wish.derived.map((template) => ({
        path: '/f',
        owner: 'root',
        mode: '0600',
        from: '/run/env',
        template,
      })),
      service: wish.unit.map((unit) => unitOf(name, unit))[0],
    }),
  )
}

const plans: Arbitrary<NodePlan> = record({
  host: componentNamed('host', 'prepare'),
  etcd: componentNamed('etcd', 'etcd'),
  kubelet: componentNamed('kubelet', 'node'),
  proxy: componentNamed('proxy', 'network'),
  chosen: subarray([0, 1, 2, 3]),
}).map(({ host, etcd, kubelet, proxy, chosen }) =>
  planOf(...[host, etcd, kubelet, proxy].filter((_, index) => chosen.includes(index))),
)

type Things = ReadonlyMap<string, string>

function thingsOf(present: readonly PresentItem[]): Things {
  return new Map(present.map((item) => [thingOf(item), item.digest]))
}

/** What is there after some ops, by a hand that knows nothing of how they were found. */
function applied(before: Things, ops: readonly Op[], after: NodePlan): Things {
  const wanted = thingsOf(presentAfter(after))
  const now = new Map(before)
  for (const op of ops) {
    const thing = thingOf(op)
    expect(now.has(thing)).toBe(op.action !== 'create')
    if (op.action === 'remove') now.delete(thing)
    if (isMade(op)) now.set(thing, wanted.get(thing) ?? '')
  }
  return now
}

function isMade({ action }: Op): boolean {
  return action === 'create' || action === 'change'
}

const runs = { numRuns: 1000 }

test('a plan that was applied needs nothing more', () => {
  assert(
    property(plans, (plan) => {
      expect(diff(plan, presentAfter(plan))).toEqual([])
    }),
    runs,
  )
})

test('the ops lead from one plan to the other', () => {
  assert(
    property(plans, plans, (before, after) => {
      const ops = diff(after, presentAfter(before))
      expect(applied(thingsOf(presentAfter(before)), ops, after)).toEqual(thingsOf(presentAfter(after)))
    }),
    runs,
  )
})

test('the ops of each stage, one stage after the other, lead there too', () => {
  assert(
    property(plans, plans, (before, after) => {
      const ops = diff(after, presentAfter(before))
      const staged = stages.flatMap((stage) => ops.filter((op) => op.stage === stage))
      expect(applied(thingsOf(presentAfter(before)), staged, after)).toEqual(thingsOf(presentAfter(after)))
    }),
    runs,
  )
})

test('what is the same in both is not touched, and nothing is touched twice', () => {
  assert(
    property(plans, plans, (before, after) => {
      const ops = diff(after, presentAfter(before))
      const [old, wanted] = [thingsOf(presentAfter(before)), thingsOf(presentAfter(after))]
      const touched = ops.filter((op) => isMade(op) || op.action === 'remove').map(thingOf)
      expect(new Set(touched).size).toBe(touched.length)
      for (const thing of touched) expect(old.get(thing)).not.toBe(wanted.get(thing))
    }),
    runs,
  )
})

test('a service that stays restarts at most once, and only for a reason', () => {
  assert(
    property(plans, plans, (before, after) => {
      const ops = diff(after, presentAfter(before))
      const restarts = ops.filter(({ action }) => action === 'restart')
      expect(new Set(restarts.map(thingOf)).size).toBe(restarts.length)
      for (const { component, because } of restarts) {
        const own = [...items(after), ...items(before)].filter((item) => item.component === component)
        expect(because.length).toBeGreaterThan(0)
        for (const name of because) expect(own.some((item) => item.name === name && item.restart)).toBe(true)
      }
    }),
    runs,
  )
})

test('a former version goes after all services have started', () => {
  assert(
    property(plans, plans, (before, after) => {
      const ops = diff(after, presentAfter(before))
      const first = ops.findIndex(({ action, target }) => action === 'remove' && target === 'artifact')
      const late = first === -1 ? [] : ops.slice(first)
      expect(late.filter(({ action }) => action === 'start' || action === 'restart')).toEqual([])
    }),
    runs,
  )
})
