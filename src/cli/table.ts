import { printable } from '../kit/printable.ts'
import type { Paint } from './command.ts'

export interface Column<T> {
  readonly head: string
  readonly cell: (row: T) => Cell
}

export interface Cell {
  readonly text: string
  readonly colour?: 'green' | 'red' | 'yellow' | 'dim'
}

/** Columns as wide as what is in them, under their heads. */
export function tableText<T>(columns: readonly Column<T>[], rows: readonly T[], paint: Paint): string {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)))
  const widths = columns.map(({ head }, at) =>
    Math.max(head.length, ...cells.map((own) => printable(own[at]?.text ?? '').length)),
  )
  const line = (own: readonly Cell[]): string =>
    own
      .map(({ text, colour }, at) => {
        const padded = printable(text).padEnd(widths[at] ?? 0)
        return colour === undefined ? padded : paint(colour, padded)
      })
      .join('  ')
      .trimEnd()
  const head = line(columns.map((column) => ({ text: column.head })))
  return [head, ...cells.map(line)].map((text) => `${text}\n`).join('')
}
