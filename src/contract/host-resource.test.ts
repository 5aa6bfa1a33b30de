import { expect, test } from 'vitest'
import { canAct } from './host-resource.ts'

const highest = { holder: 'a', transitions: 4 }

test.each([
  [{ holder: 'a', transitions: 4 }, true],
  [{ holder: 'b', transitions: 5 }, true],
  [{ holder: 'b', transitions: 4 }, false],
  [{ holder: 'a', transitions: 3 }, false],
])('after fence a4, fence %o may act: %s', (presented, expected) => {
  expect(canAct(presented, highest)).toBe(expected)
  expect(canAct(presented, undefined)).toBe(true)
})
