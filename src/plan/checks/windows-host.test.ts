import { expect, test } from 'vitest'
import type { WindowsFacts } from '../scene.ts'
import { briefly } from './fixtures.ts'

test.each<[Partial<WindowsFacts>, readonly string[]]>([
  [{ build: 14_393 }, ['win1 error HOST_WINDOWS_TOO_OLD']],
  [{ build: 17_763 }, ['win1 warning HOST_WINDOWS_OLD']],
  [{ build: 20_348 }, []],
  [{ build: 25_398 }, ['win1 warning HOST_WINDOWS_UNKNOWN']],
  [{ build: 26_100 }, []],
  [{ build: 29_000 }, ['win1 warning HOST_WINDOWS_UNKNOWN']],
  [{ arch: 'arm64' }, ['win1 error HOST_WINDOWS_ARCH']],
  [{ containersFeature: false }, ['win1 warning HOST_WINDOWS_CONTAINERS']],
  [{ rebootPending: true }, ['win1 warning HOST_WINDOWS_REBOOT']],
])('%j', (windows, expected) => {
  expect(briefly({ facts: { win1: { windows } } })).toEqual(expected)
})
