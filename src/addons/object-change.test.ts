import { expect, test } from 'vitest'
import { findChangedFields } from './object-change.ts'

test('each changed field is reported at the deepest path', () => {
  const before = { a: 1, same: { x: [1] }, list: [{ name: 'x' }, { name: 'y' }], gone: true, labels: {} }
  const after = { a: 2, same: { x: [1] }, list: [{ name: 'z' }], labels: { 'a.b/c': '1' }, kind: null }
  expect(findChangedFields(before, after)).toEqual([
    { path: 'a', before: 1, after: 2 },
    { path: 'gone', before: true },
    { path: 'kind', after: null },
    { path: 'labels["a.b/c"]', after: '1' },
    { path: 'list[0].name', before: 'x', after: 'z' },
    { path: 'list[1]', before: { name: 'y' } },
  ])
})

test('a value that changed its type is reported as a whole', () => {
  expect(findChangedFields({ a: [1] }, { a: { b: 1 } })).toEqual([
    { path: 'a', before: [1], after: { b: 1 } },
  ])
})
