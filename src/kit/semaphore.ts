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
