import { expect, test } from 'vitest'
import type { HostEtcd, HostResult } from '../../../contract/host-resource.ts'
import { etcdOf, mebibyte } from '../../testing/fake-hosts.ts'
import { decideEtcd as decide, type EtcdHost, isWasteful, untilAllTell } from './decide.ts'

const now = Date.parse('2026-11-16T08:00:00Z')
const names = ['cp1', 'cp2', 'cp3']
const wasteful = { size: 900 * mebibyte, inUse: 100 * mebibyte }

/** What is there was there long ago. */
const decideEtcd = (hosts: readonly EtcdHost[], time: number): ReturnType<typeof decide> =>
  decide(hosts, time, time - untilAllTell)

function host(name: string, etcd: Partial<HostEtcd> = {}, more: Partial<EtcdHost> = {}): EtcdHost {
  return { name, etcd: etcdOf(name, names, etcd), silent: false, open: [], results: [], ...more }
}

function done(name: string, etcd: Partial<HostEtcd> = {}, outcome: 'done' | 'failed' = 'done'): EtcdHost {
  const [first] = decideEtcd(
    names.map((one) => host(one, wasteful)),
    now,
  )
  const id = first?.kind === 'defragment' ? first.id : ''
  const result: HostResult = { id, outcome, at: '2026-11-16T08:00:00.000Z', details: [] }
  return host(name, etcd, { results: [result] })
}

const asked = (actions: ReturnType<typeof decideEtcd>): unknown[] =>
  actions.map((action) => (action.kind === 'defragment' ? action.host : action.reason))

test('nothing is to be done about members that are well', () => {
  expect(
    decideEtcd(
      names.map((name) => host(name)),
      now,
    ),
  ).toEqual([])
  expect(decideEtcd([], now)).toEqual([])
})

test('space is given back one after the other, by the leader last, and only where it pays', () => {
  const all = names.map((name) => host(name, wasteful))
  expect(asked(decideEtcd(all, now))).toEqual(['cp2'])
  expect(asked(decideEtcd([host('cp1', wasteful), done('cp2'), host('cp3', wasteful)], now))).toEqual(['cp3'])
  expect(asked(decideEtcd([host('cp1', wasteful), done('cp2'), done('cp3')], now))).toEqual(['cp1'])
  const little = { size: 200 * mebibyte, inUse: 90 * mebibyte }
  const full = { size: 4000 * mebibyte, inUse: 3000 * mebibyte }
  expect(decideEtcd([host('cp1', little), host('cp2', full), host('cp3')], now)).toEqual([])
})

test('whoever is the first to tell of waste need not be the only one: the others are waited for', () => {
  const first = [host('cp1', wasteful), host('cp2'), host('cp3')]
  expect(isWasteful(first, now)).toBe(true)
  expect(decide(first, now, now)).toEqual([])
  const all = names.map((name) => host(name, wasteful))
  expect(decide(all, now + untilAllTell - 1, now)).toEqual([])
  expect(asked(decide(all, now + untilAllTell, now))).toEqual(['cp2'])
  expect(asked(decide(all, now - 7_200_000, now))).toEqual(['cp2'])
  expect(isWasteful([host('cp1'), done('cp2', wasteful), host('cp3')], now)).toBe(false)
})

test('while one is at it, no other one is asked; also when the hours change', () => {
  const all = names.map((name) => host(name, wasteful))
  const [first] = decideEtcd(all, now)
  const id = first?.kind === 'defragment' ? first.id : ''
  const under = host('cp3', wasteful, { open: [id] })
  // It is asked again, which is one and the same.
  expect(asked(decideEtcd([host('cp1', wasteful), host('cp2', wasteful), under], now))).toEqual(['cp3'])
  expect(decideEtcd([host('cp1', wasteful), host('cp2', wasteful), under], now + 6 * 3_600_000)).toEqual([])
})

test('one that did not help is not tried again at once, and one that failed ends it', () => {
  const all = [host('cp1'), done('cp2', wasteful), host('cp3')]
  expect(decideEtcd(all, now)).toEqual([])
  expect(asked(decideEtcd(all, now + 6 * 3_600_000))).toEqual(['cp2'])
  const failed = [host('cp1', wasteful), done('cp2', wasteful, 'failed'), host('cp3', wasteful)]
  expect(asked(decideEtcd(failed, now))).toEqual(['DefragmentationFailed'])
})

test.each([
  [
    'a member that does not serve',
    [host('cp1', wasteful), host('cp2', wasteful), host('cp3', { ready: false })],
  ],
  ['a silent agent', [host('cp1', wasteful), host('cp2', wasteful), host('cp3', {}, { silent: true })]],
  ['a member that nobody has heard of', [host('cp1', wasteful), host('cp2', wasteful)]],
])('with %s it is said, and nobody else is taken away', (_what, all) => {
  const actions = decideEtcd(all, now)
  expect(asked(actions)).toEqual(['EtcdMemberAway'])
  expect(actions[0]).toMatchObject({ note: expect.stringContaining('cp3') })
})

test.each([
  ['one that learns', [host('cp1', wasteful), host('cp2', wasteful), host('cp3', { learner: true })]],
  [
    'two who say that another one leads',
    [host('cp1', wasteful), host('cp2', wasteful), host('cp3', { leader: 'cp3' })],
  ],
])('with %s nobody gives back space', (_what, all) => {
  expect(decideEtcd(all, now)).toEqual([])
})

test('alarms are told once each, however many tell of them, and nothing else is done', () => {
  const alarms = [{ member: 'cp2', alarm: 'NOSPACE' as const }]
  const actions = decideEtcd(
    names.map((name) => host(name, { ...wasteful, alarms })),
    now,
  )
  expect(actions).toMatchObject([{ kind: 'report', host: 'cp2', reason: 'EtcdNoSpace' }])
})
