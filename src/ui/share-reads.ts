/** Requests of the same data at the same time share one read, because a read connects to hosts. */
export function shareReads<Q, R>(read: (query: Q) => Promise<R>): (query: Q) => Promise<R> {
  const running = new Map<string, Promise<R>>()
  return async (query) => {
    const key = JSON.stringify(query)
    const current = running.get(key) ?? read(query).finally(() => running.delete(key))
    running.set(key, current)
    return current
  }
}
