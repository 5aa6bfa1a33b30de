/**
 * Matches a character that is one column wide in every terminal: most letters, punctuation, arrows, lines,
 * braille.
 */
const narrow = /^(?!\p{Emoji_Presentation})[\u0020-\u10FF\u2000-\u2BFF]$/u
const plain = /^[\u0020-\u007E]*$/

/** Returns the maximum width of a text. Characters that only some terminals draw wide count as wide. */
export function measureWidth(text: string): number {
  if (plain.test(text)) return text.length
  let columns = 0
  for (const character of text) columns += measureCharacter(character)
  return columns
}

/** Cuts a text to a number of columns and marks the cut with an ellipsis. */
export function truncateText(text: string, columns: number): string {
  if (measureWidth(text) <= columns) return text
  if (columns < 1) return ''
  let used = 1
  let result = ''
  for (const character of text) {
    used += measureCharacter(character)
    if (used > columns) break
    result += character
  }
  return `${result}…`
}

function measureCharacter(character: string): number {
  return narrow.test(character) ? 1 : 2
}
