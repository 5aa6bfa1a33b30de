import { expect, test } from 'vitest'
import { computeDigest } from './resource.ts'

test('a digest does not depend on the order of keys', () => {
  expect(computeDigest({ a: 1, b: { c: [1], d: 2 } })).toBe(computeDigest({ b: { d: 2, c: [1] }, a: 1 }))
})

test('a digest depends on the order of lists', () => {
  expect(computeDigest(['a', 'b'])).not.toBe(computeDigest(['b', 'a']))
})

test('a digest is the SHA-256 of the canonical JSON', () => {
  // The expected digest was computed with: printf '{"mode":"0755","owner":"root"}' | sha256sum
  expect(computeDigest({ owner: 'root', mode: '0755' })).toBe(
    'd9a79d6192fc5f874a6e8b384f7abccb4b7bf7c52d7f17419551b8002047eb53',
  )
})
