/** Lines on the terminal that are redrawn, and their widths. */
export interface Frame {
  readonly lines: readonly string[]
  readonly widths: readonly number[]
}

export const noFrame: Frame = { lines: [], widths: [] }

// The cursor is hidden only while a frame is written, and is left below the frame, so a killed process leaves
// a usable terminal. Line wrap is off, in case the terminal draws a character wider than measured.
const frameStart = '\u001B[?25l\u001B[?7l\r'
const frameEnd = '\u001B[?7h\u001B[?25h'
const clearLine = '\u001B[K'
const clearScreen = '\u001B[J'

/** Returns the output that replaces the previous frame with the next one. */
export function redraw(previous: Frame, next: Frame, columns: number): string {
  const previousHeight = height(previous, columns)
  // If the terminal became narrower, it has wrapped the lines, and the whole frame is drawn again.
  const isUnwrapped = previousHeight === previous.lines.length
  // Each line is cleared before its text is written. Clearing it afterwards would erase the last character of
  // a full line, because the cursor stays on that character.
  const lines = next.lines.map((line, index) =>
    isUnwrapped && line === previous.lines[index] ? '\n' : `${clearLine}${line}\n`,
  )
  return `${frameStart}${moveUp(previousHeight)}${isUnwrapped ? '' : clearScreen}${lines.join('')}${clearScreen}${frameEnd}`
}

/** Returns the output that removes a frame. */
export function erase(previous: Frame, columns: number): string {
  const previousHeight = height(previous, columns)
  return previousHeight === 0 ? '' : `\r${moveUp(previousHeight)}${clearScreen}`
}

function moveUp(lines: number): string {
  return lines === 0 ? '' : `\u001B[${lines}A`
}

function height({ widths }: Frame, columns: number): number {
  return widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0)
}
