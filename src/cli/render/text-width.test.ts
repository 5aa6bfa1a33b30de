import { expect, test } from 'vitest'
import { alignRows, fitLine, span, toPlainText } from './line.ts'
import { truncateText, measureWidth } from './text-width.ts'

test.each([
  ['cp1', 3],
  ['✓ preparation … → ⠹', 19],
  ['漢字', 4],
  ['⚡', 2],
  ['é', 1],
])('%s takes %d columns', (text, columns) => {
  expect(measureWidth(text)).toBe(columns)
})

test.each([
  ['preparation', 20, 'preparation'],
  ['preparation', 11, 'preparation'],
  ['preparation', 6, 'prepa…'],
  ['漢字漢字', 4, '漢…'],
  ['preparation', 1, '…'],
  ['preparation', 0, ''],
])('%s in %d columns is truncated to %j', (text, columns, shown) => {
  expect(truncateText(text, columns)).toBe(shown)
})

test('a line of several spans is truncated at the column limit', () => {
  const line = [span('cp1'), span(' etcd', 'dim'), span(' starts')]
  expect([15, 10, 8, 3, 1].map((columns) => toPlainText(fitLine(line, columns)))).toEqual([
    'cp1 etcd starts',
    'cp1 etcd …',
    'cp1 etc…',
    'cp…',
    '…',
  ])
})

test('times are aligned to the right and stay visible in a narrow terminal', () => {
  const rows = [
    { left: [span('preparation on three hosts')], right: '25.2 s' },
    { left: [span('etcd')], right: '4 s', after: '  1 of 3 done' },
    { left: [span('network')], right: '' },
  ]
  expect(alignRows(rows, 80).map(toPlainText)).toEqual([
    'preparation on three hosts  25.2 s',
    'etcd                           4 s  1 of 3 done',
    'network',
  ])
  expect(alignRows(rows, 30).map(toPlainText)).toEqual([
    'preparat…  25.2 s',
    'etcd          4 s  1 of 3 done',
    'network',
  ])
})

test('control characters in a span are escaped', () => {
  expect(span('a\u001B[2J\r\n\tb').text).toBe('a\\u001b[2J b')
})
