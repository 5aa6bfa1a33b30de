import { expect, test } from 'vitest'
import { upgradePath } from './version.ts'

const known = ['1.38.2', '1.37.1', '1.37.0', '1.36.4', '1.34.9']

test('one minor after the other, each in its newest version', () => {
  expect(upgradePath('1.36.4', '1.38.2', known)).toEqual(['1.37.1', '1.38.2'])
  expect(upgradePath('1.36.4', '1.37.0', known)).toEqual(['1.37.0'])
  expect(upgradePath('1.37.0', '1.37.1', known)).toEqual(['1.37.1'])
  expect(upgradePath('1.37.1', '1.37.1', known)).toEqual([])
})

test.each([
  ['1.37.1', '1.36.4', 'UPGRADE_DOWNGRADE'],
  ['1.37.1', '1.37.0', 'UPGRADE_DOWNGRADE'],
  ['1.36.4', '1.39.0', 'CATALOG_UNKNOWN_VERSION'],
  ['1.34.9', '1.36.4', 'UPGRADE_NO_PATH'],
])('from %s to %s is refused: %s', (from, to, code) => {
  expect(() => upgradePath(from, to, known)).toThrow(expect.objectContaining({ code }))
})
