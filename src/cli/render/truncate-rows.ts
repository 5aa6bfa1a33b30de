import { formatCount } from '../../kit/text.ts'
import { type AlignedRow, span } from './line.ts'

/** Keeps the first rows and adds a row with the number of hidden rows. */
export function truncateRowsAfter(rows: readonly AlignedRow[], maxRows: number): readonly AlignedRow[] {
  if (rows.length <= maxRows) return rows
  const hiddenCount = rows.length - maxRows + 1
  return maxRows <= 0 ? [] : [...rows.slice(0, maxRows - 1), buildNoteRow(`· … and ${hiddenCount} more`)]
}

/** Keeps the last rows and puts a row with the number of hidden rows before them. */
export function truncateRowsBefore(rows: readonly AlignedRow[], maxRows: number): readonly AlignedRow[] {
  if (rows.length <= maxRows) return rows
  const hiddenCount = rows.length - maxRows + 1
  return maxRows <= 0
    ? []
    : [buildNoteRow(`✓ ${formatCount(hiddenCount, 'step')}`), ...rows.slice(hiddenCount)]
}

function buildNoteRow(text: string): AlignedRow {
  return { left: [span(text, 'dim')], right: '' }
}
