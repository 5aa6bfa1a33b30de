import { expect, test } from 'vitest'
import { checkCase } from './testing/fixtures.ts'

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
])('a host of build %i runs an image for %j', (build, pause) => {
  expect(found(build, pause)).toEqual([])
})

test('an image for other builds is found before any pod fails', () => {
  expect(found(20_348, [17_763, 26_100])).toEqual([
    'win1 HOST_WINDOWS_IMAGE: the image registry.k8s.io/pause:3.10.2 is for Windows of build 17763, 26100, of which build 20348 runs none',
  ])
  expect(found(26_100, [])).toEqual([
    'win1 HOST_WINDOWS_IMAGE: the image registry.k8s.io/pause:3.10.2 is for no Windows at all',
  ])
})
