/**
 * Waits for all promises, then throws if any failed. Unlike Promise.all, it leaves no promise running after
 * the first failure.
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
