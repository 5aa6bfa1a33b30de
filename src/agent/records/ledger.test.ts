import { expect, test } from 'vitest'
import type { Ledger } from '../../contract/ledger.ts'
import type { Op } from '../../contract/op.ts'
import { buildComponent, buildFile, buildPlan, buildUnit } from '../../diff/testing/fixtures.ts'
import { listResources } from '../../diff/plan-resources.ts'
import {
  emptyLedger,
  findResource,
  resolveOwners,
  listRestartedComponents,
  withCurrentOwners,
  withoutResource,
  withStarted,
  withResource,
  withPendingChange,
} from './ledger.ts'
import type { ManagedResource } from '../resources/resource-handler.ts'

const cluster = { name: 'x', id: '2f8f3a52-6f0e-4d0c-9f57-4c8a9f0d1e11' }
const empty = emptyLedger(cluster)

function fileResource(name: string, of: ManagedResource<'file'>['owners']): ManagedResource<'file'> {
  return {
    target: 'file',
    name,
    digest: 'd',
    owners: of,
    owner: 'root',
    mode: '0600',
    sha256: 'a'.repeat(64),
    parents: [],
  }
}

function serviceResource(component: string): ManagedResource<'service'> {
  const of = [{ component, stage: 'node' as const, restart: true }]
  return {
    target: 'service',
    name: `${component}.service`,
    digest: 'd',
    owners: of,
    sha256: 'a'.repeat(64),
    started: true,
    pendingChanges: [],
  }
}

const nodeOwner = { component: 'a', stage: 'node', restart: true } as const

test('a resource is recorded once and keeps its position', () => {
  const [one, two] = [fileResource('/1', [nodeOwner]), fileResource('/2', [nodeOwner])]
  const ledger = withResource(withResource(empty, one), two)
  const changed = withResource(ledger, { ...one, digest: 'other' })
  expect(changed.resources).toEqual([{ ...one, digest: 'other' }, two])
  expect(withoutResource(changed, one).resources).toEqual([two])
})

test('a file and a derived file at the same path are one resource', () => {
  const ledger = withResource(empty, fileResource('/net', [nodeOwner]))
  expect(findResource(ledger, { target: 'derived-file', name: '/net' })).toMatchObject({ target: 'file' })
  expect(findResource(ledger, { target: 'user', name: '/net' })).toBeUndefined()
})

test('a retained directory is recorded until it is managed again', () => {
  const directory: ManagedResource<'directory'> = {
    target: 'directory',
    name: '/var/lib/etcd',
    digest: 'd',
    owners: [nodeOwner],
    owner: 'root',
    mode: '0700',
    parents: [],
  }
  const left = withoutResource(withResource(empty, directory), directory, ['/var/lib/etcd'])
  expect(left).toMatchObject({ resources: [], retainedDirectories: ['/var/lib/etcd'] })
  expect(withResource(left, directory).retainedDirectories).toEqual([])
})

test('a change is pending for a service until the service starts', () => {
  const ledger = withResource(withResource(empty, serviceResource('a')), serviceResource('b'))
  const pending = withPendingChange(ledger, new Set(['a']), '/config')
  expect(
    pending.resources.map((resource) => 'pendingChanges' in resource && resource.pendingChanges),
  ).toEqual([['/config'], []])
  // If the change is already recorded, the same ledger object is returned.
  expect(withPendingChange(pending, new Set(['a']), '/config')).toBe(pending)
  expect(withStarted(pending, 'a.service')).toEqual(ledger)
})

function op(action: Op['action'], name: string): Op {
  return { component: 'a', stage: 'node', action, target: 'file', name, because: [] }
}

test('a changed file restarts its planned owners, and a removed file its previous owner', () => {
  const plan = buildPlan(
    buildComponent({ name: 'a', files: [buildFile('/both', '1')], service: buildUnit('a', '') }),
    buildComponent({ name: 'b', files: [buildFile('/both', '1')], service: buildUnit('b', '') }),
    buildComponent({ name: 'c', files: [buildFile('/both', '1', false)], service: buildUnit('c', '') }),
  )
  expect(listRestartedComponents(empty, listResources(plan), op('change', '/both'))).toEqual(
    new Set(['a', 'b']),
  )
  const ledger = withResource(empty, fileResource('/gone', [nodeOwner]))
  expect(listRestartedComponents(ledger, listResources(plan), op('remove', '/gone'))).toEqual(new Set(['a']))
  expect(listRestartedComponents(ledger, listResources(plan), op('remove', '/never'))).toEqual(new Set())
})

const early = buildComponent({ name: 'early', stage: 'prepare', files: [buildFile('/shared', '1')] })
const late = buildComponent({ name: 'late', stage: 'network', files: [buildFile('/shared', '1')] })

test('components of later stages become owners and stop being owners only in their stage', () => {
  const planned = listResources(buildPlan(early, late))
  const of = (component: string, stage: 'prepare' | 'network') => ({ component, stage, restart: true })
  expect(resolveOwners(planned, [], 'node')).toEqual([of('early', 'prepare')])
  expect(resolveOwners(planned, [], 'network')).toEqual([of('early', 'prepare'), of('late', 'network')])
  expect(resolveOwners(listResources(buildPlan(early)), [of('late', 'network')], 'node')).toEqual([
    of('early', 'prepare'),
    of('late', 'network'),
  ])
  // `early` is no longer planned, and the stage of `late` is not applied yet. The resource keeps its previous
  // owner, because every resource must have an owner.
  expect(resolveOwners(listResources(buildPlan(late)), [of('early', 'prepare')], 'node')).toEqual([
    of('early', 'prepare'),
  ])
})

test('after a run a resource has only its planned owners', () => {
  const ledger: Ledger = withResource(
    empty,
    fileResource('/shared', [{ component: 'gone', stage: 'etcd', restart: true }]),
  )
  expect(
    withCurrentOwners(ledger, listResources(buildPlan(early, late)), 'network').resources[0]?.owners.map(
      ({ component }) => component,
    ),
  ).toEqual(['early', 'late'])
})
