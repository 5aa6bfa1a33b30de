/** What takes one column in every terminal: letters of most scripts, punctuation, arrows, lines, braille. */
const narrow = /^(?!\p{Emoji_Presentation})[\u0020-\u10FF\u2000-\u2BFF]$/u
const plain = /^[\u0020-\u007E]*$/

/** How many columns a text takes at most: what some terminals show wide counts as wide. */
export function width(text: string): number {
  if (plain.test(text)) return text.length
  let columns = 0
  for (const character of text) columns += widthOf(character)
  return columns
}

/** Its beginning, so that it takes no more than some columns, with a sign where something is missing. */
export function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text
  if (columns < 1) return ''
  let used = 1
  let kept = ''
  for (const character of text) {
    used += widthOf(character)
    if (used > columns) break
    kept += character
  }
  return `${kept}…`
}

function widthOf(character: string): number {
  return narrow.test(character) ? 1 : 2
}
