import { expect, test } from 'vitest'
import { listMatchingFiles, matchesClusterPath } from './cluster-pattern.ts'

test.each([
  ['clusters/*/cluster.yml', 'clusters/berlin/cluster.yml', true],
  ['clusters/*/cluster.yml', 'clusters/eu/berlin/cluster.yml', false],
  ['clusters/*/cluster.yml', 'clusters/.git/cluster.yml', false],
  ['clusters/eu-*.yml', 'clusters/eu-berlin.yml', true],
  ['clusters/eu-*.yml', 'clusters/eu-berlin.yaml', false],
  ['a.yml', 'axyml', false],
  ['cluster.yml', 'cluster.yml', true],
])('%s and %s: %s', (pattern, path, expected) => {
  expect(matchesClusterPath(pattern, path)).toBe(expected)
})

test('only existing files are listed', async () => {
  const files = new Set(['fleet/clusters/b/cluster.yml', 'fleet/clusters/a/cluster.yml'])
  const deps = {
    exists: async (path: string) => files.has(path),
    listDirectory: async () => ['b', 'a', 'README.md', '.git'],
  }
  expect(await listMatchingFiles(deps, 'fleet', 'clusters/*/cluster.yml')).toEqual([...files].toSorted())
})
