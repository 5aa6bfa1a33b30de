import {
  array,
  assert,
  constantFrom,
  integer,
  oneof,
  property,
  record,
  constant,
  uniqueArray,
} from 'fast-check'
import { expect, test } from 'vitest'
import { Indexes } from './indexes.ts'
import { View } from './object-store.ts'

interface Kept {
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

function wordsOf({ words }: Kept): readonly string[] {
  return words
}

function sizeOf({ size }: Kept, key: string): readonly string[] {
  return [String(size), `${key} ${size}`]
}

/** What the indexes should say, from all that there is. */
function recomputed(current: ReadonlyMap<string, Kept>): Map<string, Set<string>> {
  const all = new Map<string, Set<string>>()
  for (const [key, kept] of current) {
    const places = [
      ...wordsOf(kept).map((one) => `words ${one}`),
      ...sizeOf(kept, key).map((one) => `size ${one}`),
    ]
    for (const place of places) all.set(place, (all.get(place) ?? new Set()).add(key))
  }
  return all
}

test('at every change, indexes say what one made anew would say, and hold nothing for words that nobody has', () => {
  assert(
    property(array(step, { maxLength: 30 }), (steps) => {
      const indexes = new Indexes<Kept, 'words' | 'size'>([
        ['words', wordsOf],
        ['size', sizeOf],
      ])
      const view = new View(indexes)
      let version = 0
      const check = (): void => {
        const told = (['words', 'size'] as const).flatMap((index) =>
          [...indexes.counts(index)].map(([one, count]) => {
            const keys = indexes.keysOf(index, one)
            expect(keys.size).toBe(count)
            return [`${index} ${one}`, keys] as const
          }),
        )
        expect(new Map(told)).toEqual(recomputed(view.current))
      }
      for (const one of steps) {
        if (one.do === 'put') {
          const kept = { words: one.words, size: one.size }
          const metadata = { name: one.name, uid: one.uid, resourceVersion: String(++version) }
          const object = { apiVersion: 'v1', kind: 'Node', metadata }
          for (const _ of view.put(object, kept, indexes.placesOf(one.name, kept))) check()
        } else if (one.do === 'remove') for (const _ of view.remove(one.name)) check()
        else for (const _ of view.keepOnly(new Set(one.names))) check()
        check()
      }
    }),
  )
})
