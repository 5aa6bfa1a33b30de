/** Joins the first `max` names and appends the number of omitted names. */
export function truncateList(names: readonly string[], max: number): string {
  const omitted = names.length - max
  return `${names.slice(0, max).join(', ')}${omitted > 0 ? ` and ${omitted} more` : ''}`
}
