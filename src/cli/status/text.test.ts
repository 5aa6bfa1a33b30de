import { expect, test } from 'vitest'
import type { HostStatusReport } from '../../lifecycle/status/status-report.ts'
import { formatHostStatuses, nodeCell } from './text.ts'

const plain = (_colour: string, text: string): string => text

test('the status table has a row for each host, and problems below', () => {
  const service = (name: string, state: 'active' | 'failed') => ({ name, state, restarts: 0 })
  const text = formatHostStatuses(
    [
      {
        host: 'cp1',
        unreachable: undefined,
        version: '0.1.0',
        services: [service('etcd', 'active'), service('kubelet', 'failed')],
        etcd: { healthy: true },
        api: { healthy: true },
        node: { healthy: false, reason: 'kubelet stopped posting', version: 'v1.37.1' },
      },
      {
        host: 'cp2',
        unreachable: 'no answer from 10.0.0.3',
        version: undefined,
        services: [],
        etcd: { healthy: false, reason: 'connection refused' },
        api: { healthy: false, reason: 'no answer from 10.0.0.3', unknown: true },
        node: { healthy: false, reason: 'no API server is reachable', unknown: true },
      },
      {
        host: 'w1',
        unreachable: 'no answer from 10.0.0.2',
        version: undefined,
        services: [],
        node: { healthy: true },
      },
    ],
    { wide: false, now: new Date(0) },
    plain,
  )
  expect(text).toMatchInlineSnapshot(`
    "HOST  REACHABLE  SERVICES  ETCD       API    NODE
    cp1   yes        1/2       healthy    ready  not ready
    cp2   no         ?         unhealthy  ?      ?
    w1    no         ?         -          -      ready

    cp1: kubelet is failed; on the host: journalctl -u kubelet -n 50
    cp1: node: kubelet stopped posting
    cp2: no answer from 10.0.0.3
    cp2: etcd: connection refused
    w1: no answer from 10.0.0.2
    "
  `)
})

test('active, overdue and rolled back provisional changes are one line each', () => {
  const provisional = {
    id: '22222222-2222-4222-8222-222222222222',
    plan: 'c'.repeat(64),
    deadline: '2026-11-15T12:10:00.000Z',
    rollbackDelayMs: 0,
  }
  const host = (name: string, fields: Partial<HostStatusReport>): HostStatusReport => ({
    host: name,
    unreachable: undefined,
    version: '0.1.0',
    services: [],
    ...fields,
  })
  const active = host('cp1', { provisional: { ...provisional, state: 'provisional' } })
  const rolledBack = host('w1', {
    provisional: { ...provisional, state: 'rolled-back', at: '2026-11-15T12:12:03.500Z' },
  })
  const linesAt = (time: string): string[] =>
    formatHostStatuses([active, rolledBack], { wide: false, now: new Date(time) }, plain)
      .split('\n\n')[1]
      ?.split('\n') ?? []
  expect(linesAt('2026-11-15T12:00:00Z')).toEqual([
    'provisional until 2026-11-15T12:10:00Z: cp1; to keep the change: hyperkube provisional confirm; to roll back now: hyperkube provisional rollback',
    'rolled back, because the provisional change was not confirmed by 2026-11-15T12:10:00Z: w1 at 2026-11-15T12:12:03Z; to see the changes: hyperkube plan',
    '',
  ])
  expect(linesAt('2026-11-15T12:13:00Z')[0]).toContain('still provisional after 2026-11-15T12:10:00Z: cp1;')
})

test('a node shows its conditions and its cordon beside its readiness', () => {
  const reason = 'disk pressure'
  expect(nodeCell({ healthy: false, reason, ready: true, conditions: ['disk pressure'] })).toEqual({
    text: 'ready, disk pressure',
    colour: 'red',
  })
  expect(nodeCell({ healthy: false, reason, ready: false, conditions: ['disk pressure'] }).text).toBe(
    'not ready, disk pressure',
  )
  expect(nodeCell({ healthy: true, ready: true, cordoned: true })).toEqual({
    text: 'ready, cordoned',
    colour: 'yellow',
  })
  expect(nodeCell(undefined)).toEqual({ text: '-', colour: 'dim' })
})
