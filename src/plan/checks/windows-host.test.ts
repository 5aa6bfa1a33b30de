import { expect, test } from 'vitest'
import type { WindowsSystemFacts } from '../context.ts'
import { checkCaseBriefly, checkCase } from './testing/fixtures.ts'

test.each<[Partial<WindowsSystemFacts>, readonly string[]]>([
  [{ build: 14_393 }, ['win1 error HOST_WINDOWS_TOO_OLD']],
  [{ build: 17_763 }, ['win1 warning HOST_WINDOWS_OLD']],
  [{ build: 20_348 }, []],
  [{ build: 25_398 }, ['win1 warning HOST_WINDOWS_UNKNOWN']],
  [{ build: 26_100 }, []],
  [{ build: 26_100, installation: 'Client' }, ['win1 error HOST_WINDOWS_CLIENT']],
  [{ build: 29_000 }, ['win1 warning HOST_WINDOWS_UNKNOWN']],
  [{ arch: 'arm64' }, ['win1 error HOST_WINDOWS_ARCH']],
  [{ containersFeature: false }, ['win1 error HOST_WINDOWS_CONTAINERS']],
  [{ rebootPending: true }, ['win1 warning HOST_WINDOWS_REBOOT']],
])('%j', (windows, expected) => {
  expect(checkCaseBriefly({ facts: { win1: { windows } } })).toEqual(expected)
})

test('the hint holds the command that installs a missing feature', () => {
  const [finding] = checkCase({ facts: { win1: { windows: { containersFeature: false } } } })
  expect(finding?.hint).toBe('Install-WindowsFeature Containers -Restart')
})

test('our directory is on a disk that the host has', () => {
  const spec = ["windows: { baseDirectory: 'd:\\k8s' }"]
  const space = { totalBytes: 2 ** 37, availableBytes: 2 ** 36 }
  const disks = ['C:\\', 'D:\\'].map((path) => ({ path, ...space }))
  expect(checkCaseBriefly({ spec })).toEqual(['win1 error HOST_WINDOWS_NO_DISK'])
  expect(checkCaseBriefly({ spec, facts: { win1: { windows: { disks } } } })).toEqual([])
})
