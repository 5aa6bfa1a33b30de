import { beforeAll, expect, test } from 'vitest'
import { createTestCa, type TestCa } from '../../kit/testing/test-ca.ts'
import { FakeHosts } from '../testing/fake-hosts.ts'
import { createFastTimeBench, fastTimeStart } from '../testing/fast-time-bench.ts'
import { waitUntil } from '../testing/manager-bench.ts'
import { certificateRenewal, decideRenewal } from './certificate-renewal.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})

function certificates(renew: number, end: number) {
  const at = (minutes: number): string => new Date(fastTimeStart + minutes * 60_000).toISOString()
  return [{ component: 'kubelet', file: '/etc/kubelet.crt', renewAfter: at(renew), notAfter: at(end) }]
}

test('a host with an overdue certificate gets a renewal request and the condition reason Overdue', async () => {
  await using long = await createFastTimeBench(ca, [certificateRenewal])
  const { cluster, authorizer } = long.bench
  const hosts = new FakeHosts(cluster, long.now)
  hosts.add('w1', { certificates: certificates(0, 120) })
  let failuresLeft = 2
  cluster.intercept = ({ path, method }) => {
    if (method !== 'PATCH' || !path.includes('/hosts/') || failuresLeft === 0) return undefined
    failuresLeft--
    if (failuresLeft === 1) cluster.objects.cutWatches()
    return failuresLeft === 1
      ? { cut: 'before' }
      : { status: 409, json: { kind: 'Status', reason: 'Conflict' } }
  }
  const manager = await long.start('a')
  await long.advanceMinutes(2, manager, () => hosts.sendHeartbeats())
  expect(hosts.status('w1').conditions).toMatchObject([{ type: 'CertificatesCurrent', status: 'True' }])
  await long.advanceMinutes(38, manager, () => hosts.sendHeartbeats())
  await waitUntil('the renewal request', () => hosts.requestIds('w1').length > 0)
  expect(hosts.requestIds('w1')).toEqual(['certificate-renewal.2026-11-16'])
  expect(hosts.status('w1').conditions).toMatchObject([{ status: 'False', reason: 'Overdue' }])
  expect(hosts.respond('w1', 'done', { certificates: certificates(400, 600) })).toEqual([
    '{"type":"renew-certificates"}',
  ])
  await waitUntil(
    'the certificate to be current',
    () => hosts.status('w1').conditions?.[0]?.status === 'True',
  )
  expect(hosts.status('w1').agent, 'the status of the agent stays').toBe('1.0.0')
  expect(authorizer.refused).toEqual([])
  expect(authorizer.unused).toEqual([])
})

test('on a healthy cluster the condition is written once, and then nothing', async () => {
  await using long = await createFastTimeBench(ca, [certificateRenewal])
  const { cluster } = long.bench
  const hosts = new FakeHosts(cluster, long.now)
  for (const name of ['a', 'b', 'c']) hosts.add(name, { certificates: certificates(10_000, 20_000) })
  hosts.add('silent')
  const manager = await long.start('a')
  await waitUntil('all to be written', () => cluster.controllerWrites.length === 3)
  await long.advanceMinutes(60, manager, () => hosts.sendHeartbeats())
  expect(cluster.controllerWrites).toHaveLength(3)
  manager.stop.abort()
  await manager.result
  const next = await long.start('b')
  await waitUntil('b to lead', () => cluster.holder === 'b_1')
  await long.advanceMinutes(10, next, () => hosts.sendHeartbeats())
  expect(cluster.controllerWrites, 'the next leader writes nothing again').toHaveLength(3)
})

const day = 86_400_000
const now = Date.parse('2026-11-16T08:00:00Z')

/** Builds a certificate that is due for renewal in `renew` days and expires in `end` days. */
function certificate(renew: number, end: number, file = '/etc/x.crt') {
  const at = (days: number): string => new Date(now + days * day).toISOString()
  return { component: 'kubelet', file, renewAfter: at(renew), notAfter: at(end) }
}

test.each([
  ['a certificate far from expiry is current', [certificate(200, 300)], 'Current', false],
  ['a certificate that is due for ten days is current', [certificate(-10, 90)], 'Current', false],
  [
    'a certificate that is due for thirty days is overdue and renewed',
    [certificate(-30, 70)],
    'Overdue',
    true,
  ],
  ['a certificate at its expiry is expired and not renewed', [certificate(-100, 0)], 'Expired', false],
  [
    'one overdue certificate among current ones is renewed',
    [certificate(200, 300), certificate(-30, 70)],
    'Overdue',
    true,
  ],
  [
    'one expired certificate prevents the renewal',
    [certificate(-30, 70), certificate(-100, -1)],
    'Expired',
    false,
  ],
  ['a host without certificates is current', [], 'Current', false],
])('%s', (_what, found, reason, renew) => {
  expect(decideRenewal(found, now)).toMatchObject({ condition: { reason }, renew })
})

test('the message names the files and the day on which they expire', () => {
  const { condition } = decideRenewal([certificate(-30, 70, '/a'), certificate(-30, 80, '/b')], now)
  expect(condition.message).toBe('renewal overdue: /a and 1 more; earliest expiry 2027-01-25')
})

test('the decision does not change before the returned time', () => {
  const one = [certificate(10, 110)]
  const { next } = decideRenewal(one, now)
  expect(next).toBe(now + 35 * day)
  expect(decideRenewal(one, next - 1).renew).toBe(false)
  expect(decideRenewal(one, next).renew).toBe(true)
  expect(decideRenewal(one, next).next).toBe(now + 110 * day)
  expect(decideRenewal([], now).next).toBe(Infinity)
})
