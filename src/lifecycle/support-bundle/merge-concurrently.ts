/** What sources tell, as it comes: so many of them at once, the next when one has ended. */
export async function* inParallel<T>(sources: readonly AsyncIterable<T>[], most: number): AsyncGenerator<T> {
  const waiting = sources.map((source) => source[Symbol.asyncIterator]())
  const active = new Map<AsyncIterator<T>, Promise<Told<T>>>()
  const ask = (iterator: AsyncIterator<T>): void => void active.set(iterator, toldBy(iterator))
  for (const iterator of waiting.splice(0, most)) ask(iterator)
  while (active.size > 0) {
    const { iterator, result } = await Promise.race(active.values())
    if (result.done === true) {
      active.delete(iterator)
      for (const next of waiting.splice(0, 1)) ask(next)
    } else {
      ask(iterator)
      yield result.value
    }
  }
}

interface Told<T> {
  readonly iterator: AsyncIterator<T>
  readonly result: IteratorResult<T>
}

async function toldBy<T>(iterator: AsyncIterator<T>): Promise<Told<T>> {
  return { iterator, result: await iterator.next() }
}
