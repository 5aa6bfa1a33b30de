import { expect, test } from 'vitest'
import { findHoldProblem } from './held-upgrade.ts'
import { shippedCatalog } from './shipped-catalog.ts'

test('the tested pair of minors can be held, with any patch', () => {
  expect(findHoldProblem(shippedCatalog, { from: '1.36.4', to: '1.37.1' })).toBeUndefined()
  expect(findHoldProblem(shippedCatalog, { from: '1.36.9', to: '1.37.0' })).toBeUndefined()
})

test.each([
  ['a patch', '1.37.0', '1.37.1'],
  ['two minors', '1.35.8', '1.37.1'],
  ['an untested minor', '1.35.8', '1.36.4'],
  ['a minor without known flags', '1.37.1', '1.38.0'],
  ['a downgrade', '1.37.1', '1.36.4'],
])('%s cannot be held', (_, from, to) => {
  expect(findHoldProblem(shippedCatalog, { from, to })).toMatchObject({ code: 'UPGRADE_HOLD_UNSUPPORTED' })
})
