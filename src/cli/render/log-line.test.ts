import { expect, test } from 'vitest'
import { formatProgramLogLine } from './log-line.ts'

test.each([
  ['etcd.service: Failed with result', 'etcd.service: Failed with result'],
  [
    '{"level":"warn","ts":"2026-11-15T09:31:01Z","caller":"etcdmain/etcd.go:66","msg":"failed to verify flags","error":"too short"}',
    'warn failed to verify flags: too short',
  ],
  ['{"level":"info","msg":"Running: ","args":["etcd"],"name":"cp1"}', 'info Running args=["etcd"] name=cp1'],
  ['{"msg":"alone"}', 'alone'],
  ['{"level":"fatal","error":"address already in use"}', 'fatal address already in use'],
  ['{"no":"message"}', '{"no":"message"}'],
  ['{ not json', '{ not json'],
])('log line %s is shown as: %s', (line, shown) => {
  expect(formatProgramLogLine(line)).toBe(shown)
})

test('very long lines are truncated', () => {
  expect(formatProgramLogLine('a'.repeat(5000))).toBe(`${'a'.repeat(199)}…`)
})
