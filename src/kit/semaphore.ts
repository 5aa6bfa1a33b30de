/** Lets in no more than `limit` pieces of work at once; the others wait for their turn, in the order in which they come. */
export function atOnce(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = limit
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => void waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Whoever waits takes the place that is left.
      const next = waiting.shift()
      if (next === undefined) free++
      else next()
    }
  }
}
