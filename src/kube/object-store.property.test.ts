import {
  array,
  assert,
  constant,
  constantFrom,
  integer,
  oneof,
  property,
  record,
  uniqueArray,
} from 'fast-check'
import { expect, test } from 'vitest'
import { Indexes, ObjectStore } from './object-store.ts'

interface IndexedObject {
  readonly words: readonly string[]
  readonly size: number
}

const name = constantFrom('a', 'b', 'c', 'd')
const word = constantFrom('x', 'y', 'z')
const step = oneof(
  record({
    do: constant('put' as const),
    name,
    uid: constantFrom('u1', 'u2'),
    words: array(word, { maxLength: 3 }),
    size: integer({ min: 0, max: 2 }),
  }),
  record({ do: constant('remove' as const), name }),
  record({ do: constant('keep' as const), names: uniqueArray(name) }),
)

function wordsOf({ words }: IndexedObject): readonly string[] {
  return words
}

function sizeOf({ size }: IndexedObject, key: string): readonly string[] {
  return [String(size), `${key} ${size}`]
}

/** Computes the expected index from all objects. */
function recomputed(current: ReadonlyMap<string, IndexedObject>): Map<string, Set<string>> {
  const all = new Map<string, Set<string>>()
  for (const [key, indexed] of current) {
    const entries = [
      ...wordsOf(indexed).map((one) => `words ${one}`),
      ...sizeOf(indexed, key).map((one) => `size ${one}`),
    ]
    for (const entry of entries) all.set(entry, (all.get(entry) ?? new Set()).add(key))
  }
  return all
}

test('after every change, indexes equal rebuilt ones, and hold no values without objects', () => {
  assert(
    property(array(step, { maxLength: 30 }), (steps) => {
      const indexes = new Indexes<IndexedObject, 'words' | 'size'>([
        ['words', wordsOf],
        ['size', sizeOf],
      ])
      const store = new ObjectStore(indexes)
      let version = 0
      const check = (): void => {
        const actual = (['words', 'size'] as const).flatMap((index) =>
          [...indexes.counts(index)].map(([one, count]) => {
            const keys = indexes.findKeys(index, one)
            expect(keys.size).toBe(count)
            return [`${index} ${one}`, keys] as const
          }),
        )
        expect(new Map(actual)).toEqual(recomputed(store.current))
      }
      for (const one of steps) {
        if (one.do === 'put') {
          const indexed = { words: one.words, size: one.size }
          const metadata = { name: one.name, uid: one.uid, resourceVersion: String(++version) }
          const object = { apiVersion: 'v1', kind: 'Node', metadata }
          for (const _ of store.upsert(object, indexed, indexes.computeEntries(one.name, indexed))) check()
        } else if (one.do === 'remove') for (const _ of store.remove(one.name)) check()
        else for (const _ of store.retainOnly(new Set(one.names))) check()
        check()
      }
    }),
  )
})
