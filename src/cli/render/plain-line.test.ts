import { expect, test } from 'vitest'
import {
  createOpFixture,
  stepsPlanned,
  toEvents,
  runStarted,
  stepStarts,
  type RecordedEvent,
  waits,
} from './testing/fixtures.ts'
import { initialPlainState, renderPlain } from './plain-progress.ts'
import { largeRun, failedRun, interruptedRun, succeededRun } from './testing/recordings.ts'

const paint = (_colour: string, text: string): string => text

function formatLines(recordedEvents: readonly RecordedEvent[]): string {
  return renderPlain(initialPlainState, toEvents(recordedEvents), paint).text
}

test.each([
  ['succeeded', succeededRun],
  ['failed', failedRun],
  ['interrupted', interruptedRun],
  ['crowd', largeRun],
])('plain lines of the recorded run %s match the golden file', async (name, recordedEvents) => {
  await expect(formatLines(recordedEvents)).toMatchFileSnapshot(`./testdata/${name}-plain.txt`)
})

const step = { step: 'etcd/cp1', title: 'etcd on cp1', stage: 'etcd', hosts: ['cp1'] } as const
const startedRun: readonly RecordedEvent[] = [runStarted, stepsPlanned(0, [step]), ...stepStarts(0, step)]

test('an unchanged wait reason is printed every 30 s', () => {
  const recordedEvents = Array.from({ length: 20 }, (_, check) =>
    waits(check * 5, 'until etcd is healthy: refused', 0),
  )
  expect(formatLines([...startedRun, ...recordedEvents]).split('\n')).toEqual([
    '00:00 [1/1] etcd on cp1',
    '00:00 waiting until etcd is healthy: refused',
    '00:30 waiting until etcd is healthy: refused (30 s)',
    '01:00 waiting until etcd is healthy: refused (1 min 00 s)',
    '01:30 waiting until etcd is healthy: refused (1 min 30 s)',
    '',
  ])
})

test('changing wait reasons are printed at a limited rate', () => {
  const recordedEvents = Array.from({ length: 100 }, (_, check) =>
    waits(check * 0.2, `until nodes are ready: ${check}`, 0),
  )
  expect(formatLines([...startedRun, ...recordedEvents]).match(/waiting/g)).toHaveLength(4)
})

test('a wait of a host is printed after 5 s', () => {
  const recordedEvents = [1, 6, 11, 31, 36].map((time) =>
    waits(time, 'etcd.service to run', 0, 'cp1', 'etcd'),
  )
  expect(formatLines([...startedRun, ...recordedEvents]).split('\n')).toEqual([
    '00:00 [1/1] etcd on cp1',
    '00:06 cp1/etcd: waiting for etcd.service to run (5 s)',
    '00:36 cp1/etcd: waiting for etcd.service to run (35 s)',
    '',
  ])
})

test('after 30 s without output the slowest host is printed', () => {
  const recordedEvents = Array.from({ length: 80 }, (_, half): RecordedEvent => [
    half / 2,
    { type: 'progress', done: half, total: 118, unit: 'MB' },
    'cp1',
    'kubelet',
  ])
  expect(formatLines([...startedRun, ...recordedEvents])).toBe(
    '00:00 [1/1] etcd on cp1\n00:30 [1/1] 0 of 1 host done; slowest host cp1: kubelet 60 of 118 MB\n',
  )
})

test('the same finding of several hosts is one line, before the next event', () => {
  const finding = {
    code: 'HOST_SWAP',
    severity: 'warning',
    message: 'swap is on',
    hint: 'swapoff -a',
  } as const
  const recordedEvents = ['w1', 'w2', 'w3'].map((host): RecordedEvent => [
    1,
    { type: 'finding', finding: { ...finding, host } },
  ])
  expect(formatLines([runStarted, ...recordedEvents, ...startedRun.slice(1)])).toBe(
    'w1, w2 and w3: warning HOST_SWAP: swap is on\n  → swapoff -a\n00:00 [1/1] etcd on cp1\n',
  )
})

test('a finding is not printed again as a failure', () => {
  const failure = { code: 'HOST_SWAP', message: 'swap is on' }
  const recordedEvents: RecordedEvent[] = [
    [1, { type: 'finding', finding: { ...failure, severity: 'error', host: 'w1' } }],
    [1, { type: 'run-ended', result: { outcome: 'failed', failure: failure } }],
  ]
  expect(formatLines([runStarted, ...recordedEvents])).toBe(
    'w1: error HOST_SWAP: swap is on\nfailed after 1.0 s, nothing was changed\n  → fix the errors above, then run: hyperkube up\n',
  )
})

test('steps have the numbers of the confirmed plan, and steps without hosts have none', () => {
  const [prepare, api] = [
    { ...step, step: 'prepare/cp1', title: 'preparation on cp1' },
    { ...step, step: 'api/cp1', title: 'API server on cp1' },
  ]
  const between = { step: 'objects', title: 'RBAC rules of hyperkube', hosts: [] }
  const last = { step: 'verify', title: 'pods on every node', hosts: [] }
  const recordedEvents: RecordedEvent[] = [
    runStarted,
    [0, { type: 'steps-planned', steps: [prepare, between, api, last].map(copyHosts) }],
    ...[prepare, between, api, last].flatMap(({ step: id }, index): RecordedEvent[] => [
      [index, { type: 'step-started', step: id }],
      [index + 1, { type: 'step-ended', step: id, result: { outcome: 'done' } }],
    ]),
  ]
  expect(formatLines(recordedEvents).split('\n')).toEqual([
    '00:00 [1/2] preparation on cp1',
    '00:01 [1/2] done (1.0 s)',
    '00:01 RBAC rules of hyperkube',
    '00:02 [2/2] API server on cp1',
    '00:03 [2/2] done (1.0 s)',
    '00:03 pods on every node',
    '2 steps in 4.0 s, no host was changed',
    '',
  ])
})

function copyHosts<T extends { readonly hosts: readonly string[] }>(one: T): T & { hosts: string[] } {
  return { ...one, hosts: [...one.hosts] }
}

test('equal failures of several hosts are printed once, sorted by host', () => {
  const failure = { code: 'APPLY_WRONG_DIGEST', message: 'not what the lock says', hint: 'fix it' }
  const op = createOpFixture('kubelet', 'create', 'artifact', 'kubelet-1.36.4')
  const recordedEvents = ['w10', 'w2', 'cp1'].map((host): RecordedEvent => [
    1,
    {
      type: 'op-ended',
      op,
      result: { outcome: 'failed', failure: { ...failure, message: `${host}/kubelet: ${failure.message}` } },
    },
    host,
    'kubelet',
  ])
  const ended: RecordedEvent = [2, { type: 'run-ended', result: { outcome: 'failed', failure } }]
  expect(formatLines([...startedRun, ...recordedEvents, ended])).toContain(
    '✗ kubelet on cp1, w2 and w10: APPLY_WRONG_DIGEST: not what the lock says\n  → fix it\nfailed after',
  )
})
