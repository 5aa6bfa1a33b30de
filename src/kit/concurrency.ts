/**
 * Returns a function that runs tasks one at a time in FIFO order. A failed task does not block the next one.
 */
export function createMutex(): <T>(work: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve()
  return async (work) => {
    const result = tail.then(work)
    tail = result.catch(() => undefined)
    return result
  }
}

/** Returns a function that runs at most `limit` tasks at a time. Further tasks wait in FIFO order. */
export function createSemaphore(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = limit
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => void waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Hands the free slot to the next waiting task.
      const next = waiting.shift()
      if (next === undefined) free++
      else next()
    }
  }
}

/**
 * Calls `work` for every item, at most `limit` at a time, and returns the results in order. If calls fail,
 * throws all errors after every call has ended.
 */
export async function mapWithConcurrency<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const runLimited = createSemaphore(limit)
  return settleAll(items.map(async (item) => runLimited(async () => work(item))))
}

/**
 * Calls `work` for every item, in batches of `size`, and returns the results in order. If calls of a batch
 * fail, throws all their errors and starts no further batch.
 */
export async function mapInBatches<T, R>(
  size: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  for (let start = 0; start < items.length; start += size)
    results.push(...(await settleAll(items.slice(start, start + size).map(work))))
  return results
}

/**
 * Waits for all promises, then throws if any of them failed. Unlike Promise.all, it does not throw while
 * other promises are pending.
 */
export async function settleAll<T>(promises: Iterable<Promise<T>>): Promise<T[]> {
  const results = await Promise.allSettled(promises)
  const failed = results.filter((result) => result.status === 'rejected')
  // After an abort many promises reject with the same reason, which is reported once.
  const reasons = [...new Set<unknown>(failed.map(({ reason }): unknown => reason))]
  if (reasons.length === 1) throw reasons[0]
  if (reasons.length > 1) throw new AggregateError(reasons, `${failed.length} of ${results.length} failed`)
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
