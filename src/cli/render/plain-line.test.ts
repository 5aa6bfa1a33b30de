import { expect, test } from 'vitest'
import { opOf, planned, recorded, start, stepBegins, type Told, waits } from './testing/fixtures.ts'
import { plainBeginning, plainText } from './plain-progress.ts'
import { crowd, failed, interrupted, succeeded } from './testing/recordings.ts'

const paint = (_colour: string, text: string): string => text

function linesOf(told: readonly Told[]): string {
  return plainText(plainBeginning, recorded(told), paint).text
}

test.each([
  ['succeeded', succeeded],
  ['failed', failed],
  ['interrupted', interrupted],
  ['crowd', crowd],
])('lines of a run that has %s', async (name, told) => {
  await expect(linesOf(told)).toMatchFileSnapshot(`./testdata/${name}-plain.txt`)
})

const step = { step: 'etcd/cp1', title: 'etcd on cp1', stage: 'etcd', hosts: ['cp1'] } as const
const begun: readonly Told[] = [start, planned(0, [step]), ...stepBegins(0, step)]

test('the same reason is told every half minute', () => {
  const told = Array.from({ length: 20 }, (_, look) => waits(look * 5, 'until etcd is well: refused', 0))
  expect(linesOf([...begun, ...told]).split('\n')).toEqual([
    '00:00 [1/1] etcd on cp1',
    '00:00 waiting until etcd is well: refused',
    '00:30 waiting until etcd is well: refused (30 s)',
    '01:00 waiting until etcd is well: refused (1 min 00 s)',
    '01:30 waiting until etcd is well: refused (1 min 30 s)',
    '',
  ])
})

test('another reason is told at once, but not with every look', () => {
  const told = Array.from({ length: 100 }, (_, look) =>
    waits(look * 0.2, `until nodes are ready: ${look}`, 0),
  )
  expect(linesOf([...begun, ...told]).match(/waiting/g)).toHaveLength(4)
})

test('what a host waits for is told once it lasts', () => {
  const told = [1, 6, 11, 31, 36].map((time) => waits(time, 'etcd.service to run', 0, 'cp1', 'etcd'))
  expect(linesOf([...begun, ...told]).split('\n')).toEqual([
    '00:00 [1/1] etcd on cp1',
    '00:06 cp1/etcd: waiting for etcd.service to run (5 s)',
    '00:36 cp1/etcd: waiting for etcd.service to run (35 s)',
    '',
  ])
})

test('half a minute of silence ends with who is furthest behind', () => {
  const told = Array.from({ length: 80 }, (_, half): Told => [
    half / 2,
    { type: 'progress', done: half, total: 118, unit: 'MB' },
    'cp1',
    'kubelet',
  ])
  expect(linesOf([...begun, ...told])).toBe(
    '00:00 [1/1] etcd on cp1\n00:30 [1/1] 0 of 1 host done; furthest behind is cp1: kubelet 60 of 118 MB\n',
  )
})

test('the same finding on many hosts is one line, before what comes next', () => {
  const finding = {
    code: 'HOST_SWAP',
    severity: 'warning',
    message: 'swap is on',
    hint: 'swapoff -a',
  } as const
  const told = ['w1', 'w2', 'w3'].map((host): Told => [1, { type: 'finding', finding: { ...finding, host } }])
  expect(linesOf([start, ...told, ...begun.slice(1)])).toBe(
    'w1, w2 and w3: warning HOST_SWAP: swap is on\n  → swapoff -a\n00:00 [1/1] etcd on cp1\n',
  )
})

test('what was a finding is not told again as a failure', () => {
  const refusal = { code: 'HOST_SWAP', message: 'swap is on' }
  const told: Told[] = [
    [1, { type: 'finding', finding: { ...refusal, severity: 'error', host: 'w1' } }],
    [1, { type: 'run-ended', result: { outcome: 'failed', failure: refusal } }],
  ]
  expect(linesOf([start, ...told])).toBe(
    'w1: error HOST_SWAP: swap is on\nfailed after 1.0 s, nothing was changed\n  → once that is mended: hyperkube up\n',
  )
})

test('steps have the numbers that a person agreed to, and what comes between has none', () => {
  const [prepare, api] = [
    { ...step, step: 'prepare/cp1', title: 'preparation on cp1' },
    { ...step, step: 'api/cp1', title: 'API server on cp1' },
  ]
  const between = { step: 'objects', title: 'the rights of our programs', hosts: [] }
  const last = { step: 'verify', title: 'pods on every node', hosts: [] }
  const told: Told[] = [
    start,
    [0, { type: 'steps-planned', steps: [prepare, between, api, last].map(mutable) }],
    ...[prepare, between, api, last].flatMap(({ step: id }, turn): Told[] => [
      [turn, { type: 'step-started', step: id }],
      [turn + 1, { type: 'step-ended', step: id, result: { outcome: 'done' } }],
    ]),
  ]
  expect(linesOf(told).split('\n')).toEqual([
    '00:00 [1/2] preparation on cp1',
    '00:01 [1/2] done (1.0 s)',
    '00:01 the rights of our programs',
    '00:02 [2/2] API server on cp1',
    '00:03 [2/2] done (1.0 s)',
    '00:03 pods on every node',
    '2 steps in 4.0 s, nothing was changed',
    '',
  ])
})

function mutable<T extends { readonly hosts: readonly string[] }>(one: T): T & { hosts: string[] } {
  return { ...one, hosts: [...one.hosts] }
}

test('what failed alike on several hosts is told once, in the order of their names', () => {
  const failure = { code: 'APPLY_WRONG_DIGEST', message: 'not what the lock says', hint: 'mend it' }
  const op = opOf('kubelet', 'create', 'artifact', 'kubelet-1.36.4')
  const told = ['w10', 'w2', 'cp1'].map((host): Told => [
    1,
    {
      type: 'op-ended',
      op,
      result: { outcome: 'failed', failure: { ...failure, message: `${host}/kubelet: ${failure.message}` } },
    },
    host,
    'kubelet',
  ])
  const ended: Told = [2, { type: 'run-ended', result: { outcome: 'failed', failure } }]
  expect(linesOf([...begun, ...told, ended])).toContain(
    '✗ kubelet on cp1, w2 and w10: APPLY_WRONG_DIGEST: not what the lock says\n  → mend it\nfailed after',
  )
})
