import { expect, test } from 'vitest'
import type { WindowsSystemFacts } from '../context.ts'
import { checkCase, checkCaseBriefly } from './testing/fixtures.ts'

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
])('Windows facts %j give %j', (windows, expected) => {
  expect(checkCaseBriefly({ facts: { win1: { windows } } })).toEqual(expected)
})

test('the hint for a missing Containers feature is its install command', () => {
  const [finding] = checkCase({ facts: { win1: { windows: { containersFeature: false } } } })
  expect(finding?.hint).toBe('Install-WindowsFeature Containers -Restart')
})

test('baseDirectory on a drive that the host does not have is an error', () => {
  const spec = ["windows: { baseDirectory: 'd:\\k8s' }"]
  const space = { totalBytes: 2 ** 37, availableBytes: 2 ** 36 }
  const disks = ['C:\\', 'D:\\'].map((path) => ({ path, ...space }))
  expect(checkCaseBriefly({ spec })).toEqual(['win1 error HOST_WINDOWS_NO_DISK'])
  expect(checkCaseBriefly({ spec, facts: { win1: { windows: { disks } } } })).toEqual([])
})

function found(build: number, pause: readonly number[] | undefined): string[] {
  return checkCase({
    facts: { win1: { windows: { build } } },
    input: (input) => {
      const windowsBuilds = pause === undefined ? undefined : { pause: [...pause], coredns: [] }
      return { ...input, lock: { ...input.lock, ...(windowsBuilds === undefined ? {} : { windowsBuilds }) } }
    },
  }).map(({ host, code, message }) => `${host} ${code}: ${message}`)
}

test.each([
  [20_348, [17_763, 20_348, 26_100]],
  [26_100, [17_763, 20_348, 26_100]],
  // Server 2025 also runs images built for 2022.
  [26_100, [20_348]],
  // The lock does not list the builds: it is old, or the image lacks this data.
  [20_348, undefined],
])('a host of Windows build %i can run an image for builds %j', (build, pause) => {
  expect(found(build, pause)).toEqual([])
})

test('a pause image for other Windows builds only is reported', () => {
  expect(found(20_348, [17_763, 26_100])).toEqual([
    'win1 HOST_WINDOWS_IMAGE: the image registry.k8s.io/pause:3.10.2 is for Windows build 17763, 26100, which cannot run on build 20348',
  ])
  expect(found(26_100, [])).toEqual([
    'win1 HOST_WINDOWS_IMAGE: the image registry.k8s.io/pause:3.10.2 is not for Windows',
  ])
})
