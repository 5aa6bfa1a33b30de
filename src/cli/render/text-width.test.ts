import { expect, test } from 'vitest'
import { aligned, fit, span, textOf } from './line.ts'
import { cut, width } from './text-width.ts'

test.each([
  ['cp1', 3],
  ['✓ preparation … → ⠹', 19],
  ['漢字', 4],
  ['⚡', 2],
  ['é', 1],
])('%s takes %d columns', (text, columns) => {
  expect(width(text)).toBe(columns)
})

test.each([
  ['preparation', 20, 'preparation'],
  ['preparation', 11, 'preparation'],
  ['preparation', 6, 'prepa…'],
  ['漢字漢字', 4, '漢…'],
  ['preparation', 1, '…'],
  ['preparation', 0, ''],
])('%s in %d columns is %s', (text, columns, shown) => {
  expect(cut(text, columns)).toBe(shown)
})

test('a line is cut in whichever part it ends', () => {
  const line = [span('cp1'), span(' etcd', 'dim'), span(' starts')]
  expect([15, 10, 8, 3, 1].map((columns) => textOf(fit(line, columns)))).toEqual([
    'cp1 etcd starts',
    'cp1 etcd …',
    'cp1 etc…',
    'cp…',
    '…',
  ])
})

test('times stand below each other, and stay when there is little room', () => {
  const rows = [
    { left: [span('preparation on three hosts')], right: '25.2 s' },
    { left: [span('etcd')], right: '4 s', after: '  1 of 3 done' },
    { left: [span('network')], right: '' },
  ]
  expect(aligned(rows, 80).map(textOf)).toEqual([
    'preparation on three hosts  25.2 s',
    'etcd                           4 s  1 of 3 done',
    'network',
  ])
  expect(aligned(rows, 30).map(textOf)).toEqual([
    'preparat…  25.2 s',
    'etcd          4 s  1 of 3 done',
    'network',
  ])
})

test('what comes from outside is shown, and moves nothing', () => {
  expect(span('a\u001B[2J\r\n\tb').text).toBe('a\\u001b[2J b')
})
