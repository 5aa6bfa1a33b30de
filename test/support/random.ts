/** Creates a generator of pseudo-random numbers from 0 to 1. The same seed gives the same numbers. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns the values in random order. */
export function shuffle<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ value }) => value)
}

/** Returns `count` values: all of them again and again, each time in another random order. */
export function repeatShuffled<T>(values: readonly T[], count: number, random: () => number): T[] {
  const repeated: T[] = []
  while (repeated.length < count) repeated.push(...shuffle(values, random))
  return repeated.slice(0, count)
}
