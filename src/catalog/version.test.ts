import { expect, test } from 'vitest'
import { compareVersions, nearestVersions, upgradePath } from './version.ts'

const known = ['1.38.2', '1.37.1', '1.37.0', '1.36.4', '1.34.9']

test('the upgrade path has one step per minor, each to its newest patch', () => {
  expect(upgradePath('1.36.4', '1.38.2', known)).toEqual(['1.37.1', '1.38.2'])
  expect(upgradePath('1.36.4', '1.37.0', known)).toEqual(['1.37.0'])
  expect(upgradePath('1.37.0', '1.37.1', known)).toEqual(['1.37.1'])
  expect(upgradePath('1.37.1', '1.37.1', known)).toEqual([])
})

test('the upgrade path allows unlisted patches of a known minor as start and target', () => {
  expect(upgradePath('1.36.9', '1.38.7', known)).toEqual(['1.37.1', '1.38.7'])
  expect(upgradePath('1.38.2', '1.38.3', known)).toEqual(['1.38.3'])
})

test.each([
  ['1.37.1', '1.36.4', 'UPGRADE_DOWNGRADE'],
  ['1.37.1', '1.37.0', 'UPGRADE_DOWNGRADE'],
  ['1.36.4', '1.39.0', 'CATALOG_UNKNOWN_VERSION'],
  ['1.34.9', '1.36.4', 'UPGRADE_NO_PATH'],
])('an upgrade from %s to %s is refused with %s', (from, to, code) => {
  expect(() => upgradePath(from, to, known)).toThrow(expect.objectContaining({ code }))
})

test('nearestVersions prefers the same minor, then the closest patch, then the newer version', () => {
  const some = ['1.35.9', '1.37.1', '1.36.10', '1.36.2', '1.36.4']
  expect(nearestVersions('1.36.3', some)).toEqual(['1.36.4', '1.36.2', '1.36.10'])
  expect(nearestVersions('1.38.0', some)).toEqual(['1.37.1', '1.36.2', '1.36.4'])
})

test('versions are compared numerically', () => {
  expect(compareVersions('1.36.10', '1.36.9')).toBeGreaterThan(0)
  expect(compareVersions('3.6.16', '3.7')).toBeLessThan(0)
  expect(compareVersions('3.7.0', '3.7')).toBe(0)
})
