/**
 * Waits until all have ended, and only then fails, with every reason there was. With Promise.all the others
 * would still be at work when the first one fails.
 */
export async function settleAll<T>(promises: Iterable<Promise<T>>): Promise<T[]> {
  const results = await Promise.allSettled(promises)
  const failed = results.filter((result) => result.status === 'rejected')
  // An abort is one reason, however many were at work.
  const reasons = [...new Set<unknown>(failed.map(({ reason }): unknown => reason))]
  if (reasons.length === 1) throw reasons[0]
  if (reasons.length > 1) throw new AggregateError(reasons, `${failed.length} of ${results.length} failed`)
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
