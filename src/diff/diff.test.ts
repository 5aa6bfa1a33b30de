import { expect, test } from 'vitest'
import type { ComponentPlan, Stage } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { diffPlan } from './diff.ts'
import { resourcesAfterApply } from './plan-resources.ts'
import { buildArtifact, buildComponent, buildFile, buildPlan, buildUnit } from './testing/fixtures.ts'

/** Builds a component whose service runs a program of this version. */
function running(name: string, version: string, files: ComponentPlan['files'] = [], stage: Stage = 'node') {
  return buildComponent({
    name,
    stage,
    users: [name],
    directories: [{ path: `/etc/${name}`, owner: name, mode: '0700' }],
    artifacts: [buildArtifact(name, version)],
    files,
    service: buildUnit(name, `ExecStart=/opt/${name}-${version}/${name}`),
  })
}

function text({ action, target, name, because }: Op): string {
  return [action, target, name, ...(because.length === 0 ? [] : ['because', ...because])].join(' ')
}

function between(before: NodePlan, after: NodePlan): string[] {
  return diffPlan(after, resourcesAfterApply(before)).map(text)
}

test('on an empty host all resources are created and the service starts', () => {
  const plan = buildPlan(running('etcd', '1', [buildFile('/etc/etcd/config', 'a')]))
  expect(diffPlan(plan, []).map(text)).toEqual([
    'create user etcd',
    'create directory /etc/etcd',
    'create artifact etcd-1',
    'create file /etc/etcd/config',
    'create service etcd.service',
    'start service etcd.service',
  ])
})

test('unchanged resources need no ops', () => {
  const plan = buildPlan(running('etcd', '1', [buildFile('/etc/etcd/config', 'a')]))
  expect(between(plan, plan)).toEqual([])
})

test('a previous version is removed after the new one runs', () => {
  expect(between(buildPlan(running('etcd', '1')), buildPlan(running('etcd', '2')))).toEqual([
    'create artifact etcd-2',
    'change service etcd.service',
    'restart service etcd.service because etcd-2 etcd.service',
    'remove artifact etcd-1',
  ])
})

test('a service restarts only for files that it reads at its start', () => {
  const before = buildPlan(running('x', '1', [buildFile('/a', '1'), buildFile('/b', '1', false)]))
  const quiet = buildPlan(running('x', '1', [buildFile('/a', '1'), buildFile('/b', '2', false)]))
  const loud = buildPlan(running('x', '1', [buildFile('/a', '2'), buildFile('/b', '2', false)]))
  expect(between(before, quiet)).toEqual(['change file /b'])
  expect(between(before, loud)).toEqual([
    'change file /a',
    'change file /b',
    'restart service x.service because /a',
  ])
})

test('a removed file that the service reads at its start is removed before the restart, others after', () => {
  const before = buildPlan(running('x', '1', [buildFile('/login', '1'), buildFile('/other', '1', false)]))
  expect(between(before, buildPlan(running('x', '1')))).toEqual([
    'remove file /login',
    'restart service x.service because /login',
    'remove file /other',
  ])
})

test('a removed component is removed from its service back to its user', () => {
  const before = buildPlan(running('a', '1'), running('b', '1', [buildFile('/etc/b/config', '1')]))
  expect(between(before, buildPlan(running('a', '1')))).toEqual([
    'stop service b.service',
    'remove service b.service',
    'remove file /etc/b/config',
    'remove artifact b-1',
    'remove directory /etc/b',
    'remove user b',
  ])
})

test('a component without a service needs no restart', () => {
  const of = (content: string): NodePlan =>
    buildPlan(buildComponent({ name: 'host', stage: 'prepare', files: [buildFile('/a', content)] }))
  expect(between(of('1'), of('2'))).toEqual(['change file /a'])
})

test('a resource that changes its type at the same path is changed, not removed', () => {
  const before = buildPlan(buildComponent({ name: 'x', files: [buildFile('/net', '1')] }))
  const after = buildPlan(
    buildComponent({
      name: 'x',
      derivedFiles: [{ path: '/net', owner: 'root', mode: '0600', from: '/run/env', template: '' }],
    }),
  )
  expect(between(before, after)).toEqual(['change derived-file /net'])
})

test('a nested directory is removed before its parent', () => {
  const inside = (...paths: string[]): NodePlan =>
    buildPlan(
      buildComponent({
        name: 'x',
        directories: paths.map((path) => ({ path, owner: 'root', mode: '0755' })),
      }),
    )
  expect(between(inside('/a', '/a/b', '/a/b/c'), inside('/a'))).toEqual([
    'remove directory /a/b/c',
    'remove directory /a/b',
  ])
})

test('the order of present resources does not change the ops', () => {
  const before = buildPlan(running('a', '1'), running('b', '1'), running('c', '1'))
  const after = buildPlan(running('a', '2'))
  const found = resourcesAfterApply(before)
  expect(diffPlan(after, found.toReversed())).toEqual(diffPlan(after, found))
})

const shared = { path: '/shared', owner: 'root', mode: '0755' }

/** Builds a plan with two components, of an early and a late stage, that run the same program. */
function sharing(version: string): NodePlan {
  const both = { directories: [shared], artifacts: [buildArtifact('both', version)] }
  return buildPlan(
    buildComponent({ name: 'early', stage: 'prepare', ...both, service: buildUnit('early', version) }),
    buildComponent({ name: 'late', stage: 'node', ...both, service: buildUnit('late', version) }),
  )
}

test('a resource shared by two components is created once, by the first', () => {
  const ops = diffPlan(sharing('1'), []).filter(
    ({ action, target }) => action === 'create' && target !== 'service',
  )
  expect(ops.map(({ component, stage, name }) => [component, stage, name])).toEqual([
    ['early', 'prepare', '/shared'],
    ['early', 'prepare', 'both-1'],
  ])
})

test('the previous version of a shared artifact is removed last, and both services restart', () => {
  const ops = diffPlan(sharing('2'), resourcesAfterApply(sharing('1')))
  expect(ops.map(text)).toEqual([
    'create artifact both-2',
    'change service early.service',
    'restart service early.service because both-2 early.service',
    'change service late.service',
    'restart service late.service because both-2 late.service',
    'remove artifact both-1',
  ])
  expect(ops.at(-1)).toMatchObject({ component: 'late', stage: 'node' })
})

test('a shared resource stays if one of its components stays', () => {
  const [, late] = sharing('1').components
  const after = buildPlan(...(late === undefined ? [] : [late]))
  expect(between(sharing('1'), after)).toEqual(['stop service early.service', 'remove service early.service'])
})

test('services of later stages are stopped first', () => {
  const before = buildPlan(
    running('a', '1', [], 'network'),
    running('b', '1', [], 'etcd'),
    running('c', '1', [], 'node'),
  )
  const stops = between(before, buildPlan()).filter((line) => line.startsWith('stop'))
  expect(stops).toEqual(['stop service a.service', 'stop service c.service', 'stop service b.service'])
})

test('a shared resource is changed if its entries differ', () => {
  const plan = sharing('1')
  const reported = resourcesAfterApply(plan).map((item, index) =>
    index === 0 ? { ...item, digest: 'other' } : item,
  )
  expect(diffPlan(plan, reported).map(text)).toEqual(['change directory /shared'])
})

/** Diffs a plan against a host on which it is applied and the service is in the given state. */
function diffWithService(plan: NodePlan, service: { running: boolean; pendingChanges: string[] }): string[] {
  const present = resourcesAfterApply(plan).map((item) =>
    item.target === 'service' ? { ...item, service } : item,
  )
  return diffPlan(plan, present).map(text)
}

test('a stopped service is started', () => {
  expect(diffWithService(buildPlan(running('x', '1')), { running: true, pendingChanges: [] })).toEqual([])
  expect(diffWithService(buildPlan(running('x', '1')), { running: false, pendingChanges: [] })).toEqual([
    'start service x.service',
  ])
})

test('a pending change is a reason to restart like a new one, and is listed once', () => {
  const before = buildPlan(running('x', '1', [buildFile('/a', '1')]))
  expect(diffWithService(before, { running: true, pendingChanges: ['/a', '/gone'] })).toEqual([
    'restart service x.service because /a /gone',
  ])
  const after = buildPlan(running('x', '1', [buildFile('/a', '2')]))
  const service = { running: false, pendingChanges: ['/a'] }
  const present = resourcesAfterApply(before).map((item) =>
    item.target === 'service' ? { ...item, service } : item,
  )
  expect(diffPlan(after, present).map(text)).toEqual([
    'change file /a',
    'restart service x.service because /a',
  ])
})
