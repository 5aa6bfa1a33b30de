import { createHash } from 'node:crypto'
import { upstreamArtifacts } from '../artifacts.ts'
import { catalogFor, releases } from '../catalog.ts'
import type { Answer } from './fake-fetcher.ts'
import { type FakeImage, fakeImage } from '../registry/testing/fake-registry.ts'
import type { Target } from '../artifact-target.ts'

const targets: readonly Target[] = [
  { os: 'linux', arch: 'amd64' },
  { os: 'linux', arch: 'arm64' },
  { os: 'windows', arch: 'amd64' },
]

/** Upstream's sites with small files, and with their checksum files in upstream's formats; for tests. */
export function fakeUpstream(...versions: readonly string[]): Map<string, Answer> {
  const sites = new Map<string, string>()
  for (const version of versions) {
    for (const { url, checksum } of targets.flatMap((target) =>
      upstreamArtifacts(catalogFor(version), target),
    )) {
      sites.set(url, `the file ${url}`)
      if (checksum === undefined) continue
      const digest = fakeDigest(url)
      const line = `${digest}  ${url.slice(url.lastIndexOf('/') + 1)}\n`
      sites.set(checksum.url, checksum.format === 'bare' ? digest : (sites.get(checksum.url) ?? '') + line)
    }
  }
  return new Map<string, Answer>(sites)
}

/** Every image that any release names, by its reference. */
export function fakeImages(): Readonly<Record<string, FakeImage>> {
  const names = releases.flatMap(({ images }) => Object.values(images))
  return Object.fromEntries(names.map((name) => [name, fakeImage(name)]))
}

export function fakeDigest(url: string): string {
  return createHash('sha256').update(`the file ${url}`).digest('hex')
}
