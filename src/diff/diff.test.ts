import { expect, test } from 'vitest'
import type { ComponentPlan } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import type { Stage } from '../contract/stage.ts'
import { diff } from './diff.ts'
import { artifactOf, componentOf, fileOf, planOf, unitOf } from './testing/fixtures.ts'
import { presentAfter } from './plan-resources.ts'

/** A program of a version, as every component has one. */
function running(name: string, version: string, files: ComponentPlan['files'] = [], stage: Stage = 'node') {
  return componentOf({
    name,
    stage,
    users: [name],
    directories: [{ path: `/etc/${name}`, owner: name, mode: '0700' }],
    artifacts: [artifactOf(name, version)],
    files,
    service: unitOf(name, `ExecStart=/opt/${name}-${version}/${name}`),
  })
}

function text({ action, target, name, because }: Op): string {
  return [action, target, name, ...(because.length === 0 ? [] : ['because', ...because])].join(' ')
}

function between(before: NodePlan, after: NodePlan): string[] {
  return diff(after, presentAfter(before)).map(text)
}

test('on an empty host all is made, and the service starts', () => {
  const plan = planOf(running('etcd', '1', [fileOf('/etc/etcd/config', 'a')]))
  expect(diff(plan, []).map(text)).toEqual([
    'create user etcd',
    'create directory /etc/etcd',
    'create artifact etcd-1',
    'create file /etc/etcd/config',
    'create service etcd.service',
    'start service etcd.service',
  ])
})

test('nothing is done about what is there', () => {
  const plan = planOf(running('etcd', '1', [fileOf('/etc/etcd/config', 'a')]))
  expect(between(plan, plan)).toEqual([])
})

test('a former version goes after the new one runs', () => {
  expect(between(planOf(running('etcd', '1')), planOf(running('etcd', '2')))).toEqual([
    'create artifact etcd-2',
    'change service etcd.service',
    'restart service etcd.service because etcd-2 etcd.service',
    'remove artifact etcd-1',
  ])
})

test('a service restarts only for what it would not see otherwise', () => {
  const before = planOf(running('x', '1', [fileOf('/a', '1'), fileOf('/b', '1', false)]))
  const quiet = planOf(running('x', '1', [fileOf('/a', '1'), fileOf('/b', '2', false)]))
  const loud = planOf(running('x', '1', [fileOf('/a', '2'), fileOf('/b', '2', false)]))
  expect(between(before, quiet)).toEqual(['change file /b'])
  expect(between(before, loud)).toEqual([
    'change file /a',
    'change file /b',
    'restart service x.service because /a',
  ])
})

test('a file that is read at a start is gone before the restart, any other after it', () => {
  const before = planOf(running('x', '1', [fileOf('/login', '1'), fileOf('/other', '1', false)]))
  expect(between(before, planOf(running('x', '1')))).toEqual([
    'remove file /login',
    'restart service x.service because /login',
    'remove file /other',
  ])
})

test('a component that left goes from its service back to its user', () => {
  const before = planOf(running('a', '1'), running('b', '1', [fileOf('/etc/b/config', '1')]))
  expect(between(before, planOf(running('a', '1')))).toEqual([
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
    planOf(componentOf({ name: 'host', stage: 'prepare', files: [fileOf('/a', content)] }))
  expect(between(of('1'), of('2'))).toEqual(['change file /a'])
})

test('what becomes another kind of thing at its path is changed, not removed behind its maker', () => {
  const before = planOf(componentOf({ name: 'x', files: [fileOf('/net', '1')] }))
  const after = planOf(
    componentOf({
      name: 'x',
      derivedFiles: [{ path: '/net', owner: 'root', mode: '0600', from: '/run/env', template: '' }],
    }),
  )
  expect(between(before, after)).toEqual(['change derived-file /net'])
})

test('a directory inside another goes first', () => {
  const inside = (...paths: string[]): NodePlan =>
    planOf(
      componentOf({
        name: 'x',
        directories: paths.map((path) => ({ path, owner: 'root', mode: '0755' })),
      }),
    )
  expect(between(inside('/a', '/a/b', '/a/b/c'), inside('/a'))).toEqual([
    'remove directory /a/b/c',
    'remove directory /a/b',
  ])
})

test('the order in which things are found says nothing', () => {
  const before = planOf(running('a', '1'), running('b', '1'), running('c', '1'))
  const after = planOf(running('a', '2'))
  const found = presentAfter(before)
  expect(diff(after, found.toReversed())).toEqual(diff(after, found))
})

const shared = { path: '/shared', owner: 'root', mode: '0755' }

/** Two components, of an early and a late stage, that run the same program. */
function sharing(version: string): NodePlan {
  const both = { directories: [shared], artifacts: [artifactOf('both', version)] }
  return planOf(
    componentOf({ name: 'early', stage: 'prepare', ...both, service: unitOf('early', version) }),
    componentOf({ name: 'late', stage: 'node', ...both, service: unitOf('late', version) }),
  )
}

test('what two share is made once, by the first', () => {
  const ops = diff(sharing('1'), []).filter(
    ({ action, target }) => action === 'create' && target !== 'service',
  )
  expect(ops.map(({ component, stage, name }) => [component, stage, name])).toEqual([
    ['early', 'prepare', '/shared'],
    ['early', 'prepare', 'both-1'],
  ])
})

test('what two shared goes with the last, and both restart', () => {
  const ops = diff(sharing('2'), presentAfter(sharing('1')))
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

test('what two shared stays for the one that is left', () => {
  const [, late] = sharing('1').components
  const after = planOf(...(late === undefined ? [] : [late]))
  expect(between(sharing('1'), after)).toEqual(['stop service early.service', 'remove service early.service'])
})

test('what a later stage brought goes first', () => {
  const before = planOf(
    running('a', '1', [], 'network'),
    running('b', '1', [], 'etcd'),
    running('c', '1', [], 'node'),
  )
  const stops = between(before, planOf()).filter((line) => line.startsWith('stop'))
  expect(stops).toEqual(['stop service a.service', 'stop service c.service', 'stop service b.service'])
})

test('where it is not told one way what is there, it is made so once more', () => {
  const plan = sharing('1')
  const told = presentAfter(plan).map((item, index) => (index === 0 ? { ...item, digest: 'other' } : item))
  expect(diff(plan, told).map(text)).toEqual(['change directory /shared'])
})

/** A service that is there, and how it fares. */
function faring(plan: NodePlan, service: { running: boolean; unseen: string[] }): string[] {
  const present = presentAfter(plan).map((item) => (item.target === 'service' ? { ...item, service } : item))
  return diff(plan, present).map(text)
}

test('a service that does not run is started', () => {
  expect(faring(planOf(running('x', '1')), { running: true, unseen: [] })).toEqual([])
  expect(faring(planOf(running('x', '1')), { running: false, unseen: [] })).toEqual([
    'start service x.service',
  ])
})

test('what a service has not seen yet is a reason like a change of now, and told once', () => {
  const before = planOf(running('x', '1', [fileOf('/a', '1')]))
  expect(faring(before, { running: true, unseen: ['/a', '/gone'] })).toEqual([
    'restart service x.service because /a /gone',
  ])
  const after = planOf(running('x', '1', [fileOf('/a', '2')]))
  const service = { running: false, unseen: ['/a'] }
  const present = presentAfter(before).map((item) =>
    item.target === 'service' ? { ...item, service } : item,
  )
  expect(diff(after, present).map(text)).toEqual(['change file /a', 'restart service x.service because /a'])
})
