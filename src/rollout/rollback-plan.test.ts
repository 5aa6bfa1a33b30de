import { expect, test } from 'vitest'
import { componentOf, planOf } from '../diff/testing/fixtures.ts'
import { goBackPlan } from './rollback-plan.ts'

const api = (version: string) => componentOf({ name: 'kube-apiserver', stage: 'api', version })
const kubelet = (version: string) => componentOf({ name: 'kubelet', stage: 'node', version })
const extra = componentOf({ name: 'extra', stage: 'node', version: '1' })

const versions = (plan: ReturnType<typeof goBackPlan>) =>
  plan?.components.map(({ name, version }) => `${name} ${version}`)

test('what did not come up is as it was, and the rest as it is', () => {
  const back = goBackPlan(planOf(api('2'), kubelet('2')), planOf(api('1'), kubelet('1')), ['node'])
  expect(versions(back)).toEqual(['kube-apiserver 2', 'kubelet 1'])
})

test('what is new goes, and what was there comes back', () => {
  const now = planOf(api('2'), kubelet('2'))
  expect(versions(goBackPlan(now, planOf(api('1'), kubelet('1'), extra), ['node']))).toEqual([
    'kube-apiserver 2',
    'kubelet 1',
    'extra 1',
  ])
  const grown = planOf(api('2'), kubelet('2'), extra)
  expect(versions(goBackPlan(grown, planOf(kubelet('1')), ['node']))).toEqual([
    'kube-apiserver 2',
    'kubelet 1',
  ])
})

test('where nothing was another, or nothing was, nobody goes back', () => {
  const now = planOf(api('2'), kubelet('2'))
  expect(goBackPlan(now, planOf(api('1'), kubelet('2')), ['node'])).toBeUndefined()
  expect(goBackPlan(now, planOf(api('1')), ['node'])).toBeUndefined()
})
