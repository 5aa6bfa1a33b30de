import { expect, test } from 'vitest'
import type { HostResult } from '../../contract/host-resource.ts'
import { buildHostEtcd } from '../testing/fake-hosts.ts'
import {
  decideSnapshot,
  formatScheduledSnapshotName,
  formatSnapshotRequestId,
  type SnapshotHost,
} from './snapshot-schedule.ts'

const moment = new Date('2026-11-16T08:00:00Z')
const due = { moment, keep: { hourly: 2, daily: 0, weekly: 0 } }
const names = ['cp1', 'cp2', 'cp3']
const id = formatSnapshotRequestId(moment)

function host(name: string, more: Partial<SnapshotHost> = {}): SnapshotHost {
  return {
    name,
    etcd: buildHostEtcd(name, names),
    silent: false,
    openRequests: [],
    results: [],
    snapshots: [],
    ...more,
  }
}

function snapshot(text: string, size = 1) {
  return { name: formatScheduledSnapshotName(new Date(text)), takenAt: new Date(text).toISOString(), size }
}

const failed: HostResult = { id, outcome: 'failed', at: moment.toISOString(), details: [] }
const decideHost = (hosts: readonly SnapshotHost[]): string => {
  const action = decideSnapshot(hosts, due)
  return action.kind === 'take' ? action.host : action.kind
}

test('the follower with the oldest snapshot takes the next one; a single member takes it itself', () => {
  expect(decideHost(names.map((name) => host(name)))).toBe('cp2')
  expect(
    decideHost([host('cp1'), host('cp2', { snapshots: [snapshot('2026-11-16T07:00Z')] }), host('cp3')]),
  ).toBe('cp3')
  expect(decideHost([host('cp1')])).toBe('cp1')
})

test('a due snapshot is requested unless it exists and is not empty', () => {
  expect(decideHost([host('cp1'), host('cp2', { snapshots: [snapshot('2026-11-16T08:00Z')] })])).toBe(
    'nothing',
  )
  expect(decideHost([host('cp1'), host('cp2', { snapshots: [snapshot('2026-11-16T08:00Z', 0)] })])).toBe(
    'cp2',
  )
  expect(decideHost([])).toBe('nothing')
})

test('a requested host keeps its request unless it is silent; a failed host gets no second request', () => {
  expect(decideHost([host('cp1'), host('cp2'), host('cp3', { openRequests: [id] })])).toBe('cp3')
  expect(decideHost([host('cp1'), host('cp2'), host('cp3', { openRequests: [id], silent: true })])).toBe(
    'cp2',
  )
  expect(decideHost([host('cp1'), host('cp2', { results: [failed] }), host('cp3')])).toBe('cp3')
  const done: HostResult = { ...failed, outcome: 'done' }
  expect(
    decideHost([host('cp1'), host('cp2', { results: [done] }), host('cp3', { results: [failed] })]),
  ).toBe('cp1')
})

test('a snapshot that no host could take is reported', () => {
  const all = names.map((name) => host(name, { results: [failed] }))
  expect(decideSnapshot(all, due)).toMatchObject({
    kind: 'report',
    note: expect.stringContaining('cp1, cp2, cp3'),
  })
  expect(decideHost(names.map((name) => host(name, { silent: true })))).toBe('report')
})

test('a snapshot with a future time in its name does not expire real snapshots', () => {
  const [six, seven] = [snapshot('2026-11-16T06:00Z'), snapshot('2026-11-16T07:00Z')]
  const future = ['2026-11-16T09:00Z', '2026-11-16T10:00Z'].map((text) => snapshot(text))
  const cp2 = host('cp2', { snapshots: [six, seven] })
  const action = decideSnapshot([host('cp1'), cp2, host('cp3', { snapshots: future, silent: true })], {
    moment,
    keep: { hourly: 3, daily: 0, weekly: 0 },
  })
  expect(action).not.toMatchObject({ remove: expect.arrayContaining([seven.name]) })
  const own = decideSnapshot([host('cp2', { snapshots: [six, seven, ...future] })], due)
  expect(own).toMatchObject({ kind: 'take', host: 'cp2', remove: [six.name] })
})

test('expired snapshots are removed from the host that takes one, counted over all hosts; snapshots with other names stay', () => {
  const [six, seven] = [snapshot('2026-11-16T06:00Z'), snapshot('2026-11-16T07:00Z')]
  const own = { ...six, name: 'mine.db' }
  const cp2 = host('cp2', { snapshots: [six, own] })
  const cp3 = host('cp3', { snapshots: [snapshot('2026-11-16T05:00Z'), seven] })
  expect(decideSnapshot([cp2, cp3], due)).toMatchObject({ host: 'cp2', remove: [six.name] })
})
