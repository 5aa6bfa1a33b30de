import { expect, test } from 'vitest'
import { parseImageManifest, windowsBuilds } from './image-manifest.ts'

const part = { mediaType: 'application/json', digest: `sha256:${'0'.repeat(64)}`, size: 1 }

function buildsOf(...platforms: readonly object[]): number[] | undefined {
  const manifests = platforms.map((platform) => ({ ...part, platform }))
  const content = parseImageManifest(Buffer.from(JSON.stringify({ schemaVersion: 2, manifests })))
  return content && windowsBuilds(content)
}

const linux = { os: 'linux', architecture: 'amd64' }

function windows(version?: string): object {
  return { os: 'windows', architecture: 'amd64', ...(version === undefined ? {} : { 'os.version': version }) }
}

test('an index lists the Windows builds of an image, sorted and without duplicates', () => {
  expect(buildsOf(linux, windows('10.0.26100.1742'), windows('10.0.20348.2700'))).toEqual([20_348, 26_100])
  expect(buildsOf(windows('10.0.20348.1'), windows('10.0.20348.2'))).toEqual([20_348])
  expect(buildsOf(linux)).toEqual([])
})

test('an image without an OS version has unknown Windows builds', () => {
  expect(buildsOf(linux, windows())).toBeUndefined()
  const one = parseImageManifest(Buffer.from(JSON.stringify({ schemaVersion: 2, config: part, layers: [] })))
  expect(one && windowsBuilds(one)).toBeUndefined()
})
