import { expect, test } from 'vitest'
import type { Argv } from '../../kit/command.ts'
import { createSecretMask } from '../../kit/mask-secrets.ts'
import { scriptedJournal } from '../../lifecycle/logs/testing/scripted-journal.ts'
import type { OutputFormat, Paint } from '../command/command.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { logFlags, type LogFlags } from './flags.ts'
import { showLogs } from './show-logs.ts'

function entry(second: number, unit: string, message: string, priority = 6): object {
  return {
    __REALTIME_TIMESTAMP: String((1_800_000_000 + second) * 1_000_000),
    MESSAGE: message,
    PRIORITY: String(priority),
    _SYSTEMD_UNIT: `${unit}.service`,
  }
}

const journals: Readonly<Record<string, readonly object[]>> = {
  cp1: [entry(1, 'etcd', 'one'), entry(3, 'kubelet', 'pulled https://me:swordfish@r.example.org\nsecond')],
  w1: [entry(2, 'kubelet', '\u001B[2Jtwo', 3), entry(4, 'kubelet', 'Timed OUT')],
}

async function runLogs(
  flags: Partial<LogFlags> = {},
  { output = 'table', paint }: { readonly output?: OutputFormat; readonly paint?: Paint } = {},
) {
  const requests: Argv[] = []
  const { context, collectResult } = createInMemoryContext({})
  const code = await showLogs({
    context: paint === undefined ? context : { ...context, paint },
    output,
    flags: logFlags.parse(flags),
    components: new Map([
      ['cp1', ['etcd', 'kubelet']],
      ['w1', ['kubelet']],
      ['w2', ['kubelet']],
    ]),
    async connect(host) {
      const journal = journals[host]
      if (journal === undefined) throw new Error('no answer')
      return scriptedJournal(host, journal, requests)
    },
    mask: createSecretMask(),
  })
  return { ...collectResult(code), requests }
}

test('lines of all hosts are merged by time; an unreachable host is reported and does not stop the others', async () => {
  const { stdout, stderr, code } = await runLogs()
  expect(stdout).toBe(
    [
      '2027-01-15T08:00:01.000Z cp1 etcd    one',
      '2027-01-15T08:00:02.000Z w1  kubelet \\u001b[2Jtwo',
      '2027-01-15T08:00:03.000Z cp1 kubelet pulled https://[removed]@r.example.org',
      '2027-01-15T08:00:03.000Z cp1 kubelet second',
      '2027-01-15T08:00:04.000Z w1  kubelet Timed OUT',
      '',
    ].join('\n'),
  )
  expect(stderr).toBe('w2: error UNEXPECTED: no answer\n')
  expect(code).toBe(1)
})

test('--follow reads the journals with --follow and merges the lines', async () => {
  const { stdout, requests } = await runLogs({ follow: true, lines: 5 })
  expect(stdout.split('\n')).toHaveLength(6)
  expect(requests.map((argv) => argv.slice(-2))).toEqual([
    ['--lines=5', '--follow'],
    ['--lines=5', '--follow'],
  ])
})

test('--grep selects lines case-insensitively, and -o json prints each as a document', async () => {
  const { stdout } = await runLogs({ grep: 'timed out' }, { output: 'json' })
  expect(JSON.parse(stdout)).toEqual({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'LogLine',
    time: '2027-01-15T08:00:04.000Z',
    host: 'w1',
    component: 'kubelet',
    priority: 6,
    message: 'Timed OUT',
  })
})

test('each host has its own colour, and error lines are red', async () => {
  const { stdout } = await runLogs({}, { paint: (colour, text) => `<${colour} ${text}>` })
  expect(stdout).toContain('<cyan cp1> etcd    one')
  expect(stdout).toContain(String.raw`<green w1 > kubelet <red \u001b[2Jtwo>`)
})
