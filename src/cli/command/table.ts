import { toPrintable } from '../../kit/text.ts'
import type { Paint } from './command.ts'

export interface TableColumn<T> {
  readonly head: string
  readonly cell: (row: T) => TableCell
}

export interface TableCell {
  readonly text: string
  readonly colour?: 'green' | 'red' | 'yellow' | 'dim'
}

/** Formats a table with headings; columns are as wide as their longest cell. */
export function formatTable<T>(columns: readonly TableColumn<T>[], rows: readonly T[], paint: Paint): string {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)))
  const widths = columns.map(({ head }, index) =>
    Math.max(head.length, ...cells.map((cellRow) => toPrintable(cellRow[index]?.text ?? '').length)),
  )
  const formatRow = (cellRow: readonly TableCell[]): string =>
    cellRow
      .map(({ text, colour }, index) => {
        const padded = toPrintable(text).padEnd(widths[index] ?? 0)
        return colour === undefined ? padded : paint(colour, padded)
      })
      .join('  ')
      .trimEnd()
  const head = formatRow(columns.map((column) => ({ text: column.head })))
  return [head, ...cells.map(formatRow)].map((text) => `${text}\n`).join('')
}
