import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../../../kit/testing/test-ca.ts'
import { beginning, hours } from '../../testing/fast-time-bench.ts'
import { TestHosts } from '../../testing/fake-hosts.ts'
import { soon } from '../../testing/manager-bench.ts'
import { certificateRenewal } from './certificate-renewal.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})

function certificates(renew: number, end: number) {
  const at = (minutes: number): string => new Date(beginning + minutes * 60_000).toISOString()
  return [{ component: 'kubelet', file: '/etc/kubelet.crt', renewAfter: at(renew), notAfter: at(end) }]
}

test('an agent that does not renew in time is asked to, and what is the case is said at its host', async () => {
  await using long = await hours(authority, [certificateRenewal])
  const { cluster, authorizer } = long.stage
  const hosts = new TestHosts(cluster, long.now)
  hosts.put('w1', { certificates: certificates(0, 120) })
  let trouble = 2
  cluster.intercept = ({ path, method }) => {
    if (method !== 'PATCH' || !path.includes('/hosts/') || trouble === 0) return undefined
    trouble--
    if (trouble === 1) cluster.objects.cutWatches()
    return trouble === 1 ? { cut: 'before' } : { status: 409, json: { kind: 'Status', reason: 'Conflict' } }
  }
  const manager = await long.start('a')
  await long.pass(2, manager, () => hosts.beat())
  expect(hosts.status('w1').conditions).toMatchObject([{ type: 'CertificatesCurrent', status: 'True' }])
  await long.pass(38, manager, () => hosts.beat())
  await soon('it to be asked', () => hosts.asked('w1').length > 0)
  expect(hosts.asked('w1')).toEqual(['certificate-renewal.2026-11-16'])
  expect(hosts.status('w1').conditions).toMatchObject([{ status: 'False', reason: 'Overdue' }])
  expect(hosts.answer('w1', 'done', { certificates: certificates(400, 600) })).toEqual([
    '{"type":"renew-certificates"}',
  ])
  await soon('it to be well', () => hosts.status('w1').conditions?.[0]?.status === 'True')
  expect(hosts.status('w1').agent, 'what the agent says stays').toBe('1.0.0')
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test('on a healthy cluster it is said once, and then nothing is written', async () => {
  await using long = await hours(authority, [certificateRenewal])
  const { cluster } = long.stage
  const hosts = new TestHosts(cluster, long.now)
  for (const name of ['a', 'b', 'c']) hosts.put(name, { certificates: certificates(10_000, 20_000) })
  hosts.put('silent')
  const manager = await long.start('a')
  await soon('all to be said', () => cluster.deeds.length === 3)
  await long.pass(60, manager, () => hosts.beat())
  expect(cluster.deeds).toHaveLength(3)
  manager.stop.abort()
  await manager.ending
  const next = await long.start('b')
  await soon('b to lead', () => cluster.holder === 'b_1')
  await long.pass(10, next, () => hosts.beat())
  expect(cluster.deeds, 'whoever comes next says nothing again').toHaveLength(3)
})
