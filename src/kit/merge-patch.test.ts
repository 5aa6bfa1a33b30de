import { expect, test } from 'vitest'
import { applyMergePatch } from './merge-patch.ts'

/** The examples of RFC 7386, appendix A. */
test.each([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('%j patched with %j is %j', (target, patch, merged) => {
  expect(applyMergePatch(target, patch)).toEqual(merged)
})

test('a merge patch keeps the order of keys and never changes a prototype', () => {
  expect(Object.keys(Object(applyMergePatch({ a: 1, b: 2 }, { a: 3, c: 4 })))).toEqual(['a', 'b', 'c'])
  applyMergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}'))
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})
