import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { planChanges, readClusterText } from 'hyperkube'
import { parsePlan, type Plan } from 'hyperkube/contract'
import { beforeAll, expect, test } from 'vitest'
import { buildPlanInput, buildTestLock } from '../../src/plan/testing/fixtures.ts'
import { findViolations } from './policy-check.ts'

let plan: Plan

beforeAll(async () => {
  const { cluster } = await readClusterText(readFileSync(join(import.meta.dirname, '../single.yml'), 'utf8'))
  if (cluster === undefined) throw new Error('the example is not valid')
  const facts = [...buildPlanInput(cluster).facts.values()]
  const planned = await planChanges({ cluster, lock: buildTestLock(cluster.spec.kubernetes), facts })
  plan = parsePlan(JSON.parse(JSON.stringify(planned.plan)))
})

const downloadFrom = ['https://']

test('a plan within the policy has no violations', () => {
  expect(plan.ops['one']?.length).toBeGreaterThan(50)
  expect(findViolations(plan, { maxChangedHosts: 1, downloadFrom })).toEqual([])
})

test('too many hosts, removed hosts, other downloads and errors are violations', () => {
  expect(findViolations(plan, { maxChangedHosts: 0, downloadFrom })).toEqual([
    '1 hosts change at once; at most 0 may',
  ])
  const [op] = plan.ops['one'] ?? []
  if (op === undefined) throw new Error('there is no op')
  const removing = { ...plan, ops: { ...plan.ops, w1: [op] } }
  expect(findViolations(removing, { maxChangedHosts: 5, downloadFrom })).toEqual([
    'w1 would be removed from the cluster',
  ])
  const other = findViolations(plan, { maxChangedHosts: 5, downloadFrom: ['https://mirror.example/'] })
  expect(other).toContainEqual(expect.stringMatching(/^one: https:.* is not an allowed download$/))
  const failed = { ...plan, findings: [{ code: 'A', severity: 'error' as const, message: 'a' }] }
  expect(findViolations(failed, { maxChangedHosts: 5, downloadFrom })).toEqual(['the plan has errors'])
})
