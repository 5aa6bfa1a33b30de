import { expect, test } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import { compareVersions } from '../../src/catalog/version.ts'
import { parseReleasedVersions, readReleasedVersions } from './released.ts'

const [older, newer] = [
  { version: '0.9.0', commit: 'a'.repeat(40) },
  { version: '0.10.0', commit: 'b'.repeat(40) },
]

test('the version in package.json is newer than every released version', () => {
  // After a release, package.json gets the next version. Otherwise two different builds have one version.
  const [newest] = readReleasedVersions()
  expect(compareVersions(packageFile.version, newest.version)).toBeGreaterThan(0)
})

test('the version in package.json is a version number that deb, rpm and npm packages can have', () => {
  expect(packageFile.version).toMatch(/^\d+\.\d+\.\d+$/)
})

test('the newest version is first', () => {
  expect(parseReleasedVersions([newer, older])).toEqual([newer, older])
  expect(() => parseReleasedVersions([older, newer])).toThrow('0.9.0 is above 0.10.0, but it is not newer')
  expect(() => parseReleasedVersions([newer, newer])).toThrow('0.10.0 is above 0.10.0')
})

test('a short commit, a version with a prefix, and an empty list are refused', () => {
  expect(() => parseReleasedVersions([{ ...newer, commit: 'b'.repeat(8) }])).toThrow('commit')
  expect(() => parseReleasedVersions([{ ...newer, version: 'v0.10.0' }])).toThrow('version')
  expect(() => parseReleasedVersions([])).toThrow('Invalid input')
})
