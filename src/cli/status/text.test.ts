import { expect, test } from 'vitest'
import type { HostStatus } from '../../lifecycle/status/observed-host-status.ts'
import { statusText } from './text.ts'

const plain = (_colour: string, text: string): string => text

test('a row for each host, and below it what is wrong', () => {
  const service = (name: string, state: 'active' | 'failed') => ({ name, state, restarts: 0 })
  const text = statusText(
    [
      {
        host: 'cp1',
        away: undefined,
        version: '0.1.0',
        services: [service('etcd', 'active'), service('kubelet', 'failed')],
        etcd: { well: true },
        api: { well: true },
        node: { well: false, reason: 'kubelet stopped posting', version: 'v1.37.1' },
      },
      {
        host: 'w1',
        away: 'nobody answers at 10.0.0.2',
        version: undefined,
        services: [],
        node: { well: true },
      },
    ],
    { wide: false, now: new Date(0) },
    plain,
  )
  expect(text).toMatchInlineSnapshot(`
    "HOST  ANSWERS  SERVICES  ETCD  API    NODE
    cp1   yes      1/2       well  ready  not ready
    w1    no       ?         -     -      ready

    cp1: kubelet is failed; on the host: journalctl -u kubelet -n 50
    cp1: node: kubelet stopped posting
    w1: nobody answers at 10.0.0.2
    "
  `)
})

test('what is on trial, is late to go back, or went back is one line each', () => {
  const trial = {
    id: '22222222-2222-4222-8222-222222222222',
    plan: 'c'.repeat(64),
    deadline: '2026-11-15T12:10:00.000Z',
    slot: 0,
  }
  const host = (name: string, of: Pick<HostStatus, 'trial'>): HostStatus => ({
    host: name,
    away: undefined,
    version: '0.1.0',
    services: [],
    ...of,
  })
  const on = host('cp1', { trial: { ...trial, state: 'on-trial' } })
  const back = host('w1', { trial: { ...trial, state: 'went-back', at: '2026-11-15T12:12:03.500Z' } })
  const linesAt = (time: string): string[] =>
    statusText([on, back], { wide: false, now: new Date(time) }, plain)
      .split('\n\n')[1]
      ?.split('\n') ?? []
  expect(linesAt('2026-11-15T12:00:00Z')).toEqual([
    'on trial until 2026-11-15T12:10:00Z: cp1; hyperkube trial keep keeps it, hyperkube trial back goes back now',
    'went back, because the trial ended at 2026-11-15T12:10:00Z and was not kept: w1 at 2026-11-15T12:12:03Z; hyperkube plan shows what is to be done',
    '',
  ])
  expect(linesAt('2026-11-15T12:13:00Z')[0]).toContain(
    'still on trial, which ended at 2026-11-15T12:10:00Z: cp1;',
  )
})
