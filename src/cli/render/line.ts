import { toPrintable } from '../../kit/text.ts'
import type { Paint } from '../command/command.ts'
import { truncateText, measureWidth } from './text-width.ts'

export type Colour = Parameters<Paint>[0]

export interface StyledSpan {
  readonly text: string
  readonly colour: Colour | undefined
}

/** One screen line: text without line breaks or control characters, with coloured parts. */
export type StyledLine = readonly StyledSpan[]

/** Creates a part of a line from any text: replaces whitespace and control characters. */
export function span(text: string, colour?: Colour): StyledSpan {
  return { text: toPrintable(text.replaceAll(/\s+/g, ' ')), colour }
}

/** Creates a part of a line with blank columns. */
export function gap(columns: number): StyledSpan {
  return { text: ' '.repeat(Math.max(0, columns)), colour: undefined }
}

export function toPlainText(line: StyledLine): string {
  return line.map(({ text }) => text).join('')
}

export function measureLine(line: StyledLine): number {
  return measureWidth(toPlainText(line))
}

export function paintLine(line: StyledLine, paint: Paint): string {
  return line.map(({ text, colour }) => (colour === undefined ? text : paint(colour, text))).join('')
}

/** Cuts a line to a number of columns. */
export function fitLine(line: StyledLine, columns: number): StyledLine {
  if (measureLine(line) <= columns) return line
  const fitting: StyledSpan[] = []
  let left = columns
  for (const { text, colour } of line) {
    const used = measureWidth(text)
    // If this part does not fit or fills the rest of the line, its last column becomes an ellipsis.
    if (used >= left) {
      fitting.push({ text: truncateText(used > left ? text : `${text}…`, left), colour })
      return fitting
    }
    fitting.push({ text, colour })
    left -= used
  }
  return fitting
}

export interface AlignedRow {
  readonly left: StyledLine
  /** Right-aligned column. */
  readonly right: string
  /** Text after the right column. */
  readonly after?: string
}

/** Aligns the right columns of all rows after the longest left part. */
export function alignRows(rows: readonly AlignedRow[], columns: number): StyledLine[] {
  const maxWidth = (texts: readonly string[]): number => Math.max(0, ...texts.map(measureWidth))
  const rightWidth = maxWidth(rows.map(({ right }) => right))
  const afterWidth = maxWidth(rows.map(({ after = '' }) => after))
  const availableWidth = Math.max(0, columns - rightWidth - afterWidth - 2)
  const leftWidth = Math.min(availableWidth, maxWidth(rows.map(({ left }) => toPlainText(left))))
  return rows.map(({ left, right, after = '' }) => {
    if (right === '') return fitLine(left, columns)
    const shown = fitLine(left, leftWidth)
    const gapWidth = leftWidth - measureLine(shown) + 2 + rightWidth - measureWidth(right)
    return fitLine([...shown, gap(gapWidth), span(right, 'dim'), { text: after, colour: 'dim' }], columns)
  })
}
