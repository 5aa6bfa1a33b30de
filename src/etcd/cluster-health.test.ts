import { expect, test } from 'vitest'
import { findingSchema } from '../contract/finding.ts'
import { checkEtcdHealth } from './cluster-health.ts'
import { buildEtcdObservation } from './testing/fixtures.ts'
import type { EtcdObservation } from './member.ts'

function lines(observed: EtcdObservation): string[] {
  return checkEtcdHealth(observed).map((finding) => {
    const { severity, code, message, host } = findingSchema.parse(finding)
    return [severity, code, host, message].filter((part) => part !== undefined).join(' ')
  })
}

test('a healthy cluster has no findings', () => {
  expect(lines(buildEtcdObservation({ a: {}, b: {}, c: {} }))).toEqual([])
})

test('one unreachable member is a warning', () => {
  expect(lines(buildEtcdObservation({ a: {}, b: { health: 'unreachable' }, c: {} }))).toEqual([
    'warning ETCD_MEMBER_UNREACHABLE b b is unhealthy: no connection',
  ])
})

test('a lost quorum is an error', () => {
  const observed = buildEtcdObservation(
    { a: { health: 'unready' }, b: { health: 'unreachable' }, c: { health: 'unreachable' } },
    { confirmed: false },
  )
  expect(lines(observed)).toEqual([
    'error ETCD_NO_QUORUM etcd has no quorum: 0 of 3 voters are healthy, and 2 are needed',
    'warning ETCD_MEMBER_UNREADY a a cannot serve: linearizable_read: etcdserver: no leader',
    'warning ETCD_MEMBER_UNREACHABLE b b is unhealthy: no connection',
    'warning ETCD_MEMBER_UNREACHABLE c c is unhealthy: no connection',
  ])
})

test('members that are only unreachable from here are no lost quorum', () => {
  const observed = buildEtcdObservation({ a: {}, b: { health: 'unreachable' }, c: { health: 'unreachable' } })
  expect(lines(observed)).toEqual([
    'warning ETCD_MEMBER_UNREACHABLE b b is unhealthy: no connection',
    'warning ETCD_MEMBER_UNREACHABLE c c is unhealthy: no connection',
  ])
})

test('learners and unstarted members are warnings', () => {
  const unready = { learner: true, health: 'unready' } as const
  expect(lines(buildEtcdObservation({ a: {}, d: unready }))).toEqual([
    'warning ETCD_LEARNER d d is still a learner and does not vote',
  ])
  expect(
    lines(buildEtcdObservation({ a: {}, d: { learner: true, health: 'unreachable', unstarted: true } })),
  ).toEqual(['warning ETCD_MEMBER_UNSTARTED https://d:2380 is a member, but has never started'])
})

test('alarms are errors', () => {
  const alarms = [
    { memberId: 'a', alarm: 'NOSPACE' },
    { memberId: 'gone', alarm: 'CORRUPT' },
    { memberId: '0', alarm: 'CORRUPT' },
  ] as const
  expect(lines(buildEtcdObservation({ a: {} }, { alarms }))).toEqual([
    'error ETCD_ALARM_SPACE a a has exceeded its space quota, and etcd accepts no writes',
    'error ETCD_ALARM_CORRUPT the data of gone differs from the other members',
    'error ETCD_ALARM_CORRUPT the data of the members differs, and etcd does not know which member is damaged',
  ])
})

test('lagging members, used space and different versions are warnings', () => {
  const observed = buildEtcdObservation({
    a: { status: { raftIndex: 20_000, raftAppliedIndex: 20_000 } },
    b: { status: { raftAppliedIndex: 14_999 } },
    c: { status: { raftAppliedIndex: 15_000, sizeInUse: 850, quota: 1000, version: '3.6.16' } },
  })
  expect(lines(observed)).toEqual([
    'warning ETCD_BEHIND b b is 5001 entries behind',
    'warning ETCD_SPACE c c has used 85% of its space quota',
    'warning ETCD_VERSIONS members have different versions: 3.6, 3.7',
  ])
})
