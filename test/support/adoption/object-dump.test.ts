import { expect, test } from 'vitest'
import { compareDumps, type ObjectDump, sortDifferences } from './object-dump.ts'

const dump = (objects: Readonly<Record<string, Readonly<Record<string, string>>>>): ObjectDump => ({
  versions: new Map(),
  objects: new Map(Object.entries(objects).map(([key, values]) => [key, new Map(Object.entries(values))])),
})

test('each difference has its object, its path and its kind', () => {
  const before = dump({ 'pods  a': {}, 'nodes  w1': { 'spec.x': '1', 'spec.y': '2' } })
  const after = dump({ 'pods  b': {}, 'nodes  w1': { 'spec.x': '1', 'spec.y': '3', 'spec.z': '4' } })
  expect(compareDumps(before, after)).toEqual([
    { object: 'pods  a', path: '', change: 'removed' },
    { object: 'pods  b', path: '', change: 'added' },
    { object: 'nodes  w1', path: 'spec.y', change: 'changed' },
    { object: 'nodes  w1', path: 'spec.z', change: 'changed' },
  ])
})

test('a rule expects only the objects, paths and changes that it names', () => {
  const rules = [
    { reason: 'labels', object: /^nodes /, path: /^metadata\.labels\./ },
    { reason: 'new pods', object: /^pods /, changes: ['added'] },
  ] as const
  const differences = [
    { object: 'nodes  w1', path: 'metadata.labels.a', change: 'changed' },
    { object: 'nodes  w1', path: 'metadata.labels.b', change: 'changed' },
    { object: 'nodes  w1', path: 'spec.podCIDR', change: 'changed' },
    { object: 'pods default a', path: '', change: 'added' },
    { object: 'pods default b', path: '', change: 'removed' },
  ] as const
  expect(sortDifferences(differences, rules)).toEqual({
    expected: new Map([
      ['labels', 1],
      ['new pods', 1],
    ]),
    unexpected: ['changed: nodes  w1: spec.podCIDR', 'removed: pods default b'],
  })
})
