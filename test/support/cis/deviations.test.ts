import { expect, test } from 'vitest'
import { listAdaptedChecks, readReasons } from './deviations.ts'
import { parseReports } from './kube-bench.ts'

test('the guide gives a reason for every adapted check', () => {
  const adapted = listAdaptedChecks()
  expect(adapted).toContain('1.1.19')
  expect(adapted.filter((id) => !readReasons().has(id))).toEqual([])
})

test('a row can name several checks, and its last column is the reason', () => {
  const text = '| check | reason |\n|---|---|\n| 1.1.1, 1.1.2 | upstream | because |\n| 5.3.1 | none |\n'
  expect([...readReasons(text)]).toEqual([
    ['1.1.1', 'because'],
    ['1.1.2', 'because'],
    ['5.3.1', 'none'],
  ])
})

test('skipped checks and other output do not count', () => {
  const check = { test_desc: 'text', type: '', actual_value: 'x' }
  const results = [
    { ...check, test_number: '1.1.1', status: 'PASS' },
    { ...check, test_number: '1.1.16', status: 'INFO' },
    { ...check, test_number: '1.2.20', status: 'WARN', type: 'manual' },
  ]
  const line = JSON.stringify({
    Controls: [{ version: 'hyperkube-1.12', node_type: 'master', tests: [{ results }] }],
  })
  expect(parseReports(`Warning: no kubectl\n${line}\n`)).toEqual([
    {
      target: 'master',
      id: '1.1.1',
      text: 'text',
      status: 'PASS',
      manual: false,
      adapted: true,
      actual: 'x',
    },
    {
      target: 'master',
      id: '1.2.20',
      text: 'text',
      status: 'WARN',
      manual: true,
      adapted: true,
      actual: 'x',
    },
  ])
})
