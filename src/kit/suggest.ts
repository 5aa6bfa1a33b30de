/** Returns the known word that a mistyped one most likely means, or undefined if none is close enough. */
export function suggestWord(word: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3))
  const ranked = known
    .filter((candidate) => Math.abs(candidate.length - word.length) <= limit)
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter((ranking) => ranking.distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
  return ranked[0]?.candidate
}

/**
 * Number of letters to insert, delete, replace or swap with the adjacent one (Damerau-Levenshtein distance).
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      const options = [
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      ]
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) options.push(at(beforeLast, column - 2) + 1)
      current.push(Math.min(...options))
    }
    beforeLast = last
    last = current
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
