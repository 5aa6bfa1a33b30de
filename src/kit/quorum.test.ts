import { expect, test } from 'vitest'
import { toleratesLoss, quorumSize } from './quorum.ts'

test.each([
  [1, 1, false],
  [2, 2, false],
  [3, 2, true],
  [4, 3, true],
  [5, 3, true],
  [7, 4, true],
])('%i members have a quorum of %i, and tolerate the loss of one: %s', (members, needed, bears) => {
  expect(quorumSize(members)).toBe(needed)
  expect(toleratesLoss(members)).toBe(bears)
})
