import { expect, test } from 'vitest'
import { digestOf } from './digest.ts'

test('the order of keys says nothing', () => {
  expect(digestOf({ a: 1, b: { c: [1], d: 2 } })).toBe(digestOf({ b: { d: 2, c: [1] }, a: 1 }))
})

test('the order of a list does', () => {
  expect(digestOf(['a', 'b'])).not.toBe(digestOf(['b', 'a']))
})

test('is a known one', () => {
  // printf '{"mode":"0755","owner":"root"}' | sha256sum
  expect(digestOf({ owner: 'root', mode: '0755' })).toBe(
    'd9a79d6192fc5f874a6e8b384f7abccb4b7bf7c52d7f17419551b8002047eb53',
  )
})
