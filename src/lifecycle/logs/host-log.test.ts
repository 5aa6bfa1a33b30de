import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createSecretMask } from '../../kit/mask-secrets.ts'
import { scriptedJournal } from './testing/scripted-journal.ts'
import { readHostLog, buildJournalArgs } from './host-log.ts'

const { signal } = new AbortController()
const options = { mask: createSecretMask(), signal }

test('each journal option is a single argument', () => {
  expect(
    buildJournalArgs({
      components: ['etcd', 'kubelet'],
      since: { ago: 90_500 },
      until: { at: new Date('2026-11-15T12:00:00.900Z') },
      lines: 5,
    }).slice(5),
  ).toEqual([
    '--unit=etcd.service',
    '--unit=kubelet.service',
    '--since=-91s',
    '--until=@1794744000',
    '--lines=5',
    '--reverse',
  ])
  expect(buildJournalArgs({ components: [], lines: 5 }).slice(5)).toEqual(['--lines=5'])
  expect(buildJournalArgs({ components: [], follow: true }).slice(5)).toEqual(['--follow', '--no-tail'])
})

test('journal entries become log lines of components with secrets masked', async () => {
  const remote = scriptedJournal('cp1', [
    'Welcome to cp1!',
    {
      __REALTIME_TIMESTAMP: '1700000000000001',
      MESSAGE: 'one',
      PRIORITY: '3',
      _SYSTEMD_UNIT: 'etcd.service',
    },
    { __REALTIME_TIMESTAMP: '1700000000000002', MESSAGE: '-----BEGIN PRIVATE KEY-----', UNIT: 'a.service' },
    { __REALTIME_TIMESTAMP: '1700000000000003', MESSAGE: 'between', UNIT: 'b.service' },
    { __REALTIME_TIMESTAMP: '1700000000000004', MESSAGE: 'hidden', UNIT: 'a.service' },
    { __REALTIME_TIMESTAMP: '1700000000000005', MESSAGE: [27, 104, 105], UNIT: 'b.service' },
    { __REALTIME_TIMESTAMP: '1700000000000006', MESSAGE: null, UNIT: 'b.service' },
  ])
  const lines = await Array.fromAsync(readHostLog(remote, { components: ['etcd'] }, options))
  expect(lines.map(({ component, message }) => [component, message])).toEqual([
    ['etcd', 'one'],
    ['a', '[removed]'],
    ['b', 'between'],
    ['a', '[removed]'],
    ['b', '\u001Bhi'],
    ['b', ''],
  ])
  expect(lines[0]).toMatchObject({ time: 1_700_000_000_000_001, host: 'cp1', priority: 3 })
})

test('a failing journalctl is reported with its message', async () => {
  const remote = {
    ...scriptedJournal('cp1', []),
    open: async () => ({
      stdin: new PassThrough(),
      stdout: new PassThrough().end(),
      ended: Promise.resolve({ code: 1, stderr: 'Failed to\nopen: \u001B[31mno\n' }),
      kill: () => undefined,
    }),
  }
  await expect(Array.fromAsync(readHostLog(remote, { components: [] }, options))).rejects.toMatchObject({
    code: 'COMMAND_FAILED',
    message: String.raw`journalctl failed with exit code 1: open: \u001b[31mno`,
  })
})

test('the last lines since a time are read in reverse and returned in order', async () => {
  const line = (second: number) => ({
    __REALTIME_TIMESTAMP: `170000000${second}000000`,
    MESSAGE: String(second),
    UNIT: 'etcd.service',
  })
  const remote = scriptedJournal('cp1', [line(1), line(2), line(3)])
  const query = { components: ['etcd'], since: { ago: 60_000 }, lines: 3 }
  const lines = await Array.fromAsync(readHostLog(remote, query, options))
  expect(lines.map(({ message }) => message)).toEqual(['1', '2', '3'])
})
