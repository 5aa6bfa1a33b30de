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
