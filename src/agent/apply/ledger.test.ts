import { expect, test } from 'vitest'
import type { Ledger } from '../../contract/ledger.ts'
import type { Op } from '../../contract/op.ts'
import { componentOf, fileOf, planOf, unitOf } from '../../diff/testing/fixtures.ts'
import { items } from '../../diff/plan-resources.ts'
import {
  emptyLedger,
  findThing,
  ownersOf,
  restartedFor,
  settled,
  withoutThing,
  withStarted,
  withThing,
  withUnseen,
} from './ledger.ts'
import type { Thing } from './resource-handler.ts'

const cluster = { name: 'x', id: '2f8f3a52-6f0e-4d0c-9f57-4c8a9f0d1e11' }
const empty = emptyLedger(cluster)

function fileThing(name: string, of: Thing<'file'>['of']): Thing<'file'> {
  return {
    target: 'file',
    name,
    digest: 'd',
    of,
    owner: 'root',
    mode: '0600',
    sha256: 'a'.repeat(64),
    parents: [],
  }
}

function serviceThing(component: string): Thing<'service'> {
  const of = [{ component, stage: 'node' as const, restart: true }]
  return {
    target: 'service',
    name: `${component}.service`,
    digest: 'd',
    of,
    sha256: 'a'.repeat(64),
    started: true,
    unseen: [],
  }
}

const nodeOwner = { component: 'a', stage: 'node', restart: true } as const

test('a thing is written down once, in its place', () => {
  const [one, two] = [fileThing('/1', [nodeOwner]), fileThing('/2', [nodeOwner])]
  const ledger = withThing(withThing(empty, one), two)
  const changed = withThing(ledger, { ...one, digest: 'other' })
  expect(changed.things).toEqual([{ ...one, digest: 'other' }, two])
  expect(withoutThing(changed, one).things).toEqual([two])
})

test('what is at a path is one thing, whatever kind it is', () => {
  const ledger = withThing(empty, fileThing('/net', [nodeOwner]))
  expect(findThing(ledger, { target: 'derived-file', name: '/net' })).toMatchObject({ target: 'file' })
  expect(findThing(ledger, { target: 'user', name: '/net' })).toBeUndefined()
})

test('data that is left is remembered until it is ours again', () => {
  const directory: Thing<'directory'> = {
    target: 'directory',
    name: '/var/lib/etcd',
    digest: 'd',
    of: [nodeOwner],
    owner: 'root',
    mode: '0700',
    parents: [],
  }
  const left = withoutThing(withThing(empty, directory), directory, ['/var/lib/etcd'])
  expect(left).toMatchObject({ things: [], left: ['/var/lib/etcd'] })
  expect(withThing(left, directory).left).toEqual([])
})

test('a service has not seen what changes until it starts', () => {
  const ledger = withThing(withThing(empty, serviceThing('a')), serviceThing('b'))
  const blind = withUnseen(ledger, new Set(['a']), '/config')
  expect(blind.things.map((thing) => 'unseen' in thing && thing.unseen)).toEqual([['/config'], []])
  // Nothing to write down when it is known.
  expect(withUnseen(blind, new Set(['a']), '/config')).toBe(blind)
  expect(withStarted(blind, 'a.service')).toEqual(ledger)
})

function op(action: Op['action'], name: string): Op {
  return { component: 'a', stage: 'node', action, target: 'file', name, because: [] }
}

test('who restarts: those of the plan for what is made, the one it belonged to for what goes', () => {
  const plan = planOf(
    componentOf({ name: 'a', files: [fileOf('/both', '1')], service: unitOf('a', '') }),
    componentOf({ name: 'b', files: [fileOf('/both', '1')], service: unitOf('b', '') }),
    componentOf({ name: 'c', files: [fileOf('/both', '1', false)], service: unitOf('c', '') }),
  )
  expect(restartedFor(empty, items(plan), op('change', '/both'))).toEqual(new Set(['a', 'b']))
  const ledger = withThing(empty, fileThing('/gone', [nodeOwner]))
  expect(restartedFor(ledger, items(plan), op('remove', '/gone'))).toEqual(new Set(['a']))
  expect(restartedFor(ledger, items(plan), op('remove', '/never'))).toEqual(new Set())
})

const early = componentOf({ name: 'early', stage: 'prepare', files: [fileOf('/shared', '1')] })
const late = componentOf({ name: 'late', stage: 'network', files: [fileOf('/shared', '1')] })

test('those of later stages come to a thing in their turn, and leave it then', () => {
  const planned = items(planOf(early, late))
  const of = (component: string, stage: 'prepare' | 'network') => ({ component, stage, restart: true })
  expect(ownersOf(planned, [], 'node')).toEqual([of('early', 'prepare')])
  expect(ownersOf(planned, [], 'network')).toEqual([of('early', 'prepare'), of('late', 'network')])
  expect(ownersOf(items(planOf(early)), [of('late', 'network')], 'node')).toEqual([
    of('early', 'prepare'),
    of('late', 'network'),
  ])
  // Somebody has it until it goes.
  expect(ownersOf(items(planOf(late)), [of('early', 'prepare')], 'node')).toEqual([of('early', 'prepare')])
})

test('after a run only those have a thing whose plan says so', () => {
  const ledger: Ledger = withThing(
    empty,
    fileThing('/shared', [{ component: 'gone', stage: 'etcd', restart: true }]),
  )
  expect(
    settled(ledger, items(planOf(early, late)), 'network').things[0]?.of.map(({ component }) => component),
  ).toEqual(['early', 'late'])
})
