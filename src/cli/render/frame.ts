/** What a terminal shows of ours, and how wide each line is. */
export interface Frame {
  readonly lines: readonly string[]
  readonly widths: readonly number[]
}

export const noFrame: Frame = { lines: [], widths: [] }

// The cursor is away only while we write, and stands below what we wrote when we have: whoever ends us, by whatever
// means, finds the terminal whole. Lines are not wrapped, should a terminal hold a character for wider than we do.
const begin = '\u001B[?25l\u001B[?7l\r'
const end = '\u001B[?7h\u001B[?25h'
const restOfLine = '\u001B[K'
const restOfScreen = '\u001B[J'

/** What to write so that a frame takes the place of the former one. */
export function redraw(former: Frame, next: Frame, columns: number): string {
  const up = height(former, columns)
  // When the terminal was made narrower it has broken our lines; then all of them are drawn anew.
  const same = up === former.lines.length
  // Cleared before and not after: behind a full line the cursor stands on its last character.
  const lines = next.lines.map((line, index) =>
    same && line === former.lines[index] ? '\n' : `${restOfLine}${line}\n`,
  )
  return `${begin}${upBy(up)}${same ? '' : restOfScreen}${lines.join('')}${restOfScreen}${end}`
}

/** What to write so that nothing is left of a frame. */
export function erase(former: Frame, columns: number): string {
  const up = height(former, columns)
  return up === 0 ? '' : `\r${upBy(up)}${restOfScreen}`
}

function upBy(lines: number): string {
  return lines === 0 ? '' : `\u001B[${lines}A`
}

function height({ widths }: Frame, columns: number): number {
  return widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
}
