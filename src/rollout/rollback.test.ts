import { expect, test } from 'vitest'
import { buildComponent, buildPlan } from '../diff/testing/fixtures.ts'
import { buildRollbackPlan, selectRollbackStages } from './rollback.ts'
import { buildFixtureOp } from './testing/fixtures.ts'

const api = (version: string) => buildComponent({ name: 'kube-apiserver', stage: 'api', version })
const kubelet = (version: string) => buildComponent({ name: 'kubelet', stage: 'node', version })
const extra = buildComponent({ name: 'extra', stage: 'node', version: '1' })

const versions = (plan: ReturnType<typeof buildRollbackPlan>) =>
  plan?.components.map(({ name, version }) => `${name} ${version}`)

test('a rollback restores the components of the failed stage only', () => {
  const back = buildRollbackPlan(buildPlan(api('2'), kubelet('2')), buildPlan(api('1'), kubelet('1')), [
    'node',
  ])
  expect(versions(back)).toEqual(['kube-apiserver 2', 'kubelet 1'])
})

test('a rollback removes components that are new in the stage and restores removed ones', () => {
  const now = buildPlan(api('2'), kubelet('2'))
  expect(versions(buildRollbackPlan(now, buildPlan(api('1'), kubelet('1'), extra), ['node']))).toEqual([
    'kube-apiserver 2',
    'kubelet 1',
    'extra 1',
  ])
  const grown = buildPlan(api('2'), kubelet('2'), extra)
  expect(versions(buildRollbackPlan(grown, buildPlan(kubelet('1')), ['node']))).toEqual([
    'kube-apiserver 2',
    'kubelet 1',
  ])
})

test('there is no rollback plan if the components of the stage did not change or did not exist', () => {
  const now = buildPlan(api('2'), kubelet('2'))
  expect(buildRollbackPlan(now, buildPlan(api('1'), kubelet('2')), ['node'])).toBeUndefined()
  expect(buildRollbackPlan(now, buildPlan(api('1')), ['node'])).toBeUndefined()
})

test('a component that replaces another tool is removed again', () => {
  const replaces = { kind: 'unit', unit: 'kubelet.service', kept: true } as const
  const moved = buildPlan(api('1'), { ...kubelet('1'), replaces })
  const empty = { ...moved, components: [] }
  expect(versions(buildRollbackPlan(moved, empty, ['node']))).toEqual(['kube-apiserver 1'])
  const committed = buildPlan(api('1'), { ...kubelet('1'), replaces: { ...replaces, kept: false } })
  expect(buildRollbackPlan(committed, empty, ['node'])).toBeUndefined()
})

test('etcd rolls back unless its ops are done, etcd is healthy and a later stage failed', () => {
  const remaining = [buildFixtureOp('etcd', 'remove'), buildFixtureOp('api', 'restart')]
  expect(selectRollbackStages(['etcd', 'api'], remaining, true)).toEqual(['api'])
  expect(selectRollbackStages(['etcd', 'api'], remaining, false)).toEqual(['etcd', 'api'])
  const restart = [buildFixtureOp('etcd', 'restart')]
  expect(selectRollbackStages(['etcd', 'api'], restart, true)).toEqual(['etcd', 'api'])
  expect(selectRollbackStages(['etcd'], remaining, true)).toEqual(['etcd'])
})
