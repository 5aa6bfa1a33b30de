import { expect, test } from 'vitest'
import type { HostEtcd, HostResult } from '../../contract/host-resource.ts'
import { buildHostEtcd, mebibyte } from '../testing/fake-hosts.ts'
import {
  decideEtcd as decide,
  type EtcdHost,
  hasReclaimableSpace,
  wasteReportDelayMs,
} from './etcd-maintenance.ts'

const now = Date.parse('2026-11-16T08:00:00Z')
const names = ['cp1', 'cp2', 'cp3']
const reclaimable = { size: 900 * mebibyte, inUse: 100 * mebibyte }

/** Decides as if the space had been reclaimable for the whole report delay. */
const decideEtcd = (hosts: readonly EtcdHost[], time: number): ReturnType<typeof decide> =>
  decide(hosts, time, time - wasteReportDelayMs)

function host(name: string, etcd: Partial<HostEtcd> = {}, more: Partial<EtcdHost> = {}): EtcdHost {
  return {
    name,
    etcd: buildHostEtcd(name, names, etcd),
    silent: false,
    openRequests: [],
    results: [],
    ...more,
  }
}

function buildHostWithResult(
  name: string,
  etcd: Partial<HostEtcd> = {},
  outcome: 'done' | 'failed' = 'done',
): EtcdHost {
  const [first] = decideEtcd(
    names.map((one) => host(one, reclaimable)),
    now,
  )
  const id = first?.kind === 'defragment' ? first.id : ''
  const result: HostResult = { id, outcome, at: '2026-11-16T08:00:00.000Z', details: [] }
  return host(name, etcd, { results: [result] })
}

const listTargets = (actions: ReturnType<typeof decideEtcd>): unknown[] =>
  actions.map((action) => (action.kind === 'defragment' ? action.host : action.reason))

test('healthy members need no action', () => {
  expect(
    decideEtcd(
      names.map((name) => host(name)),
      now,
    ),
  ).toEqual([])
  expect(decideEtcd([], now)).toEqual([])
})

test('members with enough reclaimable space are defragmented one after the other, the leader last', () => {
  const all = names.map((name) => host(name, reclaimable))
  expect(listTargets(decideEtcd(all, now))).toEqual(['cp2'])
  expect(
    listTargets(
      decideEtcd([host('cp1', reclaimable), buildHostWithResult('cp2'), host('cp3', reclaimable)], now),
    ),
  ).toEqual(['cp3'])
  expect(
    listTargets(
      decideEtcd([host('cp1', reclaimable), buildHostWithResult('cp2'), buildHostWithResult('cp3')], now),
    ),
  ).toEqual(['cp1'])
  const little = { size: 200 * mebibyte, inUse: 90 * mebibyte }
  const full = { size: 4000 * mebibyte, inUse: 3000 * mebibyte }
  expect(decideEtcd([host('cp1', little), host('cp2', full), host('cp3')], now)).toEqual([])
})

test('after the first report of reclaimable space, the reports of the other members are awaited', () => {
  const first = [host('cp1', reclaimable), host('cp2'), host('cp3')]
  expect(hasReclaimableSpace(first, now)).toBe(true)
  expect(decide(first, now, now)).toEqual([])
  const all = names.map((name) => host(name, reclaimable))
  expect(decide(all, now + wasteReportDelayMs - 1, now)).toEqual([])
  expect(listTargets(decide(all, now + wasteReportDelayMs, now))).toEqual(['cp2'])
  expect(listTargets(decide(all, now - 7_200_000, now))).toEqual(['cp2'])
  expect(hasReclaimableSpace([host('cp1'), buildHostWithResult('cp2', reclaimable), host('cp3')], now)).toBe(
    false,
  )
})

test('while one member is defragmented, no other member gets a request, also across request windows', () => {
  const all = names.map((name) => host(name, reclaimable))
  const [first] = decideEtcd(all, now)
  const id = first?.kind === 'defragment' ? first.id : ''
  const requested = host('cp3', reclaimable, { openRequests: [id] })
  // cp3 has an open request and is selected again with the id of that request, so no second request is
  // created.
  expect(
    listTargets(decideEtcd([host('cp1', reclaimable), host('cp2', reclaimable), requested], now)),
  ).toEqual(['cp3'])
  expect(
    decideEtcd([host('cp1', reclaimable), host('cp2', reclaimable), requested], now + 6 * 3_600_000),
  ).toEqual([])
})

test('a defragmentation without effect is not repeated at once, and a failed one stops all others', () => {
  const all = [host('cp1'), buildHostWithResult('cp2', reclaimable), host('cp3')]
  expect(decideEtcd(all, now)).toEqual([])
  expect(listTargets(decideEtcd(all, now + 6 * 3_600_000))).toEqual(['cp2'])
  const failed = [
    host('cp1', reclaimable),
    buildHostWithResult('cp2', reclaimable, 'failed'),
    host('cp3', reclaimable),
  ]
  expect(listTargets(decideEtcd(failed, now))).toEqual(['DefragmentationFailed'])
})

test.each([
  [
    'a member that does not serve',
    [host('cp1', reclaimable), host('cp2', reclaimable), host('cp3', { ready: false })],
  ],
  ['a silent agent', [host('cp1', reclaimable), host('cp2', reclaimable), host('cp3', {}, { silent: true })]],
  ['a member without a report', [host('cp1', reclaimable), host('cp2', reclaimable)]],
])('with %s, the member is reported and no member is defragmented', (_what, all) => {
  const actions = decideEtcd(all, now)
  expect(listTargets(actions)).toEqual(['EtcdMemberUnreachable'])
  expect(actions[0]).toMatchObject({ note: expect.stringContaining('cp3') })
})

test.each([
  ['a learner', [host('cp1', reclaimable), host('cp2', reclaimable), host('cp3', { learner: true })]],
  [
    'members that disagree about the leader',
    [host('cp1', reclaimable), host('cp2', reclaimable), host('cp3', { leader: 'cp3' })],
  ],
])('with %s, no member is defragmented', (_what, all) => {
  expect(decideEtcd(all, now)).toEqual([])
})

test('each alarm is reported once, however many members report it, and nothing else is done', () => {
  const alarms = [{ member: 'cp2', alarm: 'NOSPACE' as const }]
  const actions = decideEtcd(
    names.map((name) => host(name, { ...reclaimable, alarms })),
    now,
  )
  expect(actions).toMatchObject([{ kind: 'report', host: 'cp2', reason: 'EtcdNoSpace' }])
})
