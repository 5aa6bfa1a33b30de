/**
 * Waits for all promises and only then fails, with every reason. Promise.all would leave the others running
 * after the first failure.
 */
export async function settleAll<T>(promises: Iterable<Promise<T>>): Promise<T[]> {
  const results = await Promise.allSettled(promises)
  const failed = results.filter((result) => result.status === 'rejected')
  // An abort rejects many promises with the same reason; report it once.
  const reasons = [...new Set<unknown>(failed.map(({ reason }): unknown => reason))]
  if (reasons.length === 1) throw reasons[0]
  if (reasons.length > 1) throw new AggregateError(reasons, `${failed.length} of ${results.length} failed`)
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
