import { expect, test } from 'vitest'
import { computeSkew } from './skew.ts'

test.each([
  ['v1.37.1', 'v1.37.1', 'supported'],
  ['v1.37.9', 'v1.37.1', 'supported'],
  ['v1.34.0', 'v1.37.1', 'supported'],
  ['v1.33.9', 'v1.37.1', 'too-old'],
  ['v1.38.0-rc.1', 'v1.37.1', 'newer'],
  ['v1.9.0', 'v1.10.3+k3s1', 'supported'],
  ['', 'v1.37.1', 'unknown'],
  ['v1.37.1', '', 'unknown'],
  ['v2.0.0', 'v1.37.1', 'unknown'],
])('a kubelet %j beside an API server %j is %s', (kubelet, server, skew) => {
  expect(computeSkew(kubelet, server)).toBe(skew)
})
