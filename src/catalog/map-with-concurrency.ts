import { settleAll } from '../kit/settle-all.ts'

/**
 * Calls `work` for every item, at most `limit` at a time, and returns the results in order. If calls fail,
 * throws all errors after every call has ended.
 */
export async function mapWithConcurrency<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: Promise<R>[] = []
  // All workers share one iterator, so each free worker takes the next item.
  const queue = items.values()
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      const result = work(item)
      results.push(result)
      await result.catch(() => undefined)
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
  return settleAll(results)
}
