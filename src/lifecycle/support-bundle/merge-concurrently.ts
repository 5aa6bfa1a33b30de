/** Yields the items of all sources as they arrive. Reads at most `maxConcurrent` sources at the same time. */
export async function* mergeConcurrently<T>(
  sources: readonly AsyncIterable<T>[],
  maxConcurrent: number,
): AsyncGenerator<T> {
  const pending = sources.map((source) => source[Symbol.asyncIterator]())
  const active = new Map<AsyncIterator<T>, Promise<IteratorStep<T>>>()
  const advance = (iterator: AsyncIterator<T>): void => void active.set(iterator, readNext(iterator))
  for (const iterator of pending.splice(0, maxConcurrent)) advance(iterator)
  while (active.size > 0) {
    const { iterator, result } = await Promise.race(active.values())
    if (result.done === true) {
      active.delete(iterator)
      for (const next of pending.splice(0, 1)) advance(next)
    } else {
      advance(iterator)
      yield result.value
    }
  }
}

interface IteratorStep<T> {
  readonly iterator: AsyncIterator<T>
  readonly result: IteratorResult<T>
}

async function readNext<T>(iterator: AsyncIterator<T>): Promise<IteratorStep<T>> {
  return { iterator, result: await iterator.next() }
}
