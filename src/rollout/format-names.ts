/**
 * Joins names with commas and "and". If there are more than `max` names, the last ones are replaced by their
 * number ("5 more").
 */
export function formatNames(names: readonly string[], max = 3): string {
  const shown = names.length > max ? names.slice(0, max - 1) : names
  const rest = names.length - shown.length
  const parts = rest > 0 ? [...shown, `${rest} more`] : shown
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
