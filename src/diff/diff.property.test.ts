import { type Arbitrary, array, assert, constantFrom, property, record, subarray } from 'fast-check'
import { expect, test } from 'vitest'
import { type Stage, stages } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { diffPlan } from './diff.ts'
import { listResources, resourcesAfterApply } from './plan-resources.ts'
import { type PresentResource, resourceKey } from './resource.ts'
import { buildArtifact, buildComponent, buildFile, buildPlan, buildUnit } from './testing/fixtures.ts'

const few = constantFrom('1', '2')

/**
 * Generates components whose names, paths and versions come from a small set, so that two plans often
 * overlap.
 */
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
  }).map((fixture) =>
    buildComponent({
      name,
      stage,
      users: fixture.users,
      modules: fixture.modules,
      sysctls: Object.fromEntries(fixture.sysctl.map((value) => ['vm.swappiness', value])),
      directories: fixture.directories.map((path) => ({ path, owner: 'root', mode: fixture.mode })),
      artifacts: [
        ...fixture.versions.map((version) => buildArtifact(name, version)),
        ...fixture.shared.map((version) => buildArtifact('shared', version)),
      ],
      images: fixture.images,
      files: fixture.files.map(({ path, text, restart }) => buildFile(path, text, restart)),
      derivedFiles: fixture.derived.map((template) => ({
        path: '/f',
        owner: 'root',
        mode: '0600',
        from: '/run/env',
        template,
      })),
      service: fixture.unit.map((unit) => buildUnit(name, unit))[0],
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
  buildPlan(...[host, etcd, kubelet, proxy].filter((_, index) => chosen.includes(index))),
)

type Resources = ReadonlyMap<string, string>

function resourceMap(present: readonly PresentResource[]): Resources {
  return new Map(present.map((item) => [resourceKey(item), item.digest]))
}

/** Applies ops to a simple model of a host, without calling diffPlan. */
function applied(before: Resources, ops: readonly Op[], after: NodePlan): Resources {
  const desired = resourceMap(resourcesAfterApply(after))
  const now = new Map(before)
  for (const op of ops) {
    const key = resourceKey(op)
    expect(now.has(key)).toBe(op.action !== 'create')
    if (op.action === 'remove') now.delete(key)
    if (isMade(op)) now.set(key, desired.get(key) ?? '')
  }
  return now
}

function isMade({ action }: Op): boolean {
  return action === 'create' || action === 'change'
}

const runs = { numRuns: 1000 }

test('an applied plan needs no ops', () => {
  assert(
    property(plans, (plan) => {
      expect(diffPlan(plan, resourcesAfterApply(plan))).toEqual([])
    }),
    runs,
  )
})

test('the ops change the state of one plan into the state of another', () => {
  assert(
    property(plans, plans, (before, after) => {
      const ops = diffPlan(after, resourcesAfterApply(before))
      expect(applied(resourceMap(resourcesAfterApply(before)), ops, after)).toEqual(
        resourceMap(resourcesAfterApply(after)),
      )
    }),
    runs,
  )
})

test('the ops grouped by stage lead to the same state', () => {
  assert(
    property(plans, plans, (before, after) => {
      const ops = diffPlan(after, resourcesAfterApply(before))
      const staged = stages.flatMap((stage) => ops.filter((op) => op.stage === stage))
      expect(applied(resourceMap(resourcesAfterApply(before)), staged, after)).toEqual(
        resourceMap(resourcesAfterApply(after)),
      )
    }),
    runs,
  )
})

test('unchanged resources are not touched, and no resource is touched twice', () => {
  assert(
    property(plans, plans, (before, after) => {
      const ops = diffPlan(after, resourcesAfterApply(before))
      const [old, desired] = [
        resourceMap(resourcesAfterApply(before)),
        resourceMap(resourcesAfterApply(after)),
      ]
      const touched = ops.filter((op) => isMade(op) || op.action === 'remove').map(resourceKey)
      expect(new Set(touched).size).toBe(touched.length)
      for (const key of touched) expect(old.get(key)).not.toBe(desired.get(key))
    }),
    runs,
  )
})

test('a service restarts at most once, and only because of its own resources', () => {
  assert(
    property(plans, plans, (before, after) => {
      const ops = diffPlan(after, resourcesAfterApply(before))
      const restarts = ops.filter(({ action }) => action === 'restart')
      expect(new Set(restarts.map(resourceKey)).size).toBe(restarts.length)
      for (const { component, because } of restarts) {
        const own = [...listResources(after), ...listResources(before)].filter(
          (item) => item.component === component,
        )
        expect(because.length).toBeGreaterThan(0)
        for (const name of because) expect(own.some((item) => item.name === name && item.restart)).toBe(true)
      }
    }),
    runs,
  )
})

test('a previous version is removed after all services have started', () => {
  assert(
    property(plans, plans, (before, after) => {
      const ops = diffPlan(after, resourcesAfterApply(before))
      const first = ops.findIndex(({ action, target }) => action === 'remove' && target === 'artifact')
      const late = first === -1 ? [] : ops.slice(first)
      expect(late.filter(({ action }) => action === 'start' || action === 'restart')).toEqual([])
    }),
    runs,
  )
})
