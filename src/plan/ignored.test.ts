import { expect, test } from 'vitest'
import { buildCheckedInput } from './checks/testing/fixtures.ts'
import { planCluster } from './plan.ts'

const listeners = [{ port: 6443, process: 'haproxy' }]
const taken = buildCheckedInput({ facts: { cp1: { linux: { listeners } } } })

test('an ignored finding does not prevent planning', () => {
  expect(planCluster(taken)).toMatchObject({ plans: [], findings: [{ code: 'HOST_PORT_TAKEN' }] })
  const { plans, findings } = planCluster(taken, ['HOST_PORT_TAKEN'])
  expect([plans.length, findings]).toEqual([taken.cluster.spec.hosts.length, []])
})

test('findings about missing facts cannot be ignored', () => {
  const input = { ...taken, facts: new Map([...taken.facts].filter(([name]) => name !== 'cp1')) }
  const { plans, findings } = planCluster(input, ['HOST_NO_FACTS', 'PLAN_NO_QUORUM'])
  expect([plans, findings.map(({ code }) => code)]).toEqual([[], ['HOST_NO_FACTS', 'PLAN_NO_QUORUM']])
})
