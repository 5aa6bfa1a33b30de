/**
 * Waits until all have ended, and only then fails, with every reason there was. With Promise.all the others
 * would still be at work when the first one fails.
 */
export async function settleAll<T>(promises: Iterable<Promise<T>>): Promise<T[]> {
  const results = await Promise.allSettled(promises)
  const reasons: unknown[] = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason] : [],
  )
  if (reasons.length === 1) throw reasons[0]
  if (reasons.length > 1) throw new AggregateError(reasons, `${reasons.length} of ${results.length} failed`)
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
