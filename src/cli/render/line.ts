import { printable } from '../../kit/printable.ts'
import type { Paint } from '../command.ts'
import { cut, width } from './text-width.ts'

export type Colour = Parameters<Paint>[0]

export interface Span {
  readonly text: string
  readonly colour: Colour | undefined
}

/** One line of a screen: text without line ends or controls, of which parts have a colour. */
export type Line = readonly Span[]

/** Text from wherever, fit to be part of a line. */
export function span(text: string, colour?: Colour): Span {
  return { text: printable(text.replaceAll(/\s+/g, ' ')), colour }
}

/** So many columns of nothing. */
export function gap(columns: number): Span {
  return { text: ' '.repeat(Math.max(0, columns)), colour: undefined }
}

export function textOf(line: Line): string {
  return line.map(({ text }) => text).join('')
}

export function widthOf(line: Line): number {
  return width(textOf(line))
}

export function painted(line: Line, paint: Paint): string {
  return line.map(({ text, colour }) => (colour === undefined ? text : paint(colour, text))).join('')
}

/** The line, or as much of it as fits. */
export function fit(line: Line, columns: number): Line {
  if (widthOf(line) <= columns) return line
  const fitting: Span[] = []
  let left = columns
  for (const { text, colour } of line) {
    const used = width(text)
    // Something follows that will not fit, so a column is kept for the sign of it.
    if (used >= left) {
      fitting.push({ text: cut(used > left ? text : `${text}…`, left), colour })
      return fitting
    }
    fitting.push({ text, colour })
    left -= used
  }
  return fitting
}

export interface Row {
  readonly left: Line
  /** Stands below each other, to the right. */
  readonly right: string
  /** Whatever follows it. */
  readonly after?: string
}

/** Rows with their right sides below each other, close to the longest of the left. */
export function aligned(rows: readonly Row[], columns: number): Line[] {
  const longest = (texts: readonly string[]): number => Math.max(0, ...texts.map(width))
  const rightWidth = longest(rows.map(({ right }) => right))
  const afterWidth = longest(rows.map(({ after = '' }) => after))
  const room = Math.max(0, columns - rightWidth - afterWidth - 2)
  const leftWidth = Math.min(room, longest(rows.map(({ left }) => textOf(left))))
  return rows.map(({ left, right, after = '' }) => {
    if (right === '') return fit(left, columns)
    const shown = fit(left, leftWidth)
    const between = leftWidth - widthOf(shown) + 2 + rightWidth - width(right)
    return fit([...shown, gap(between), span(right, 'dim'), { text: after, colour: 'dim' }], columns)
  })
}
