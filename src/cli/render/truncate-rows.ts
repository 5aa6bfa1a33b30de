import { formatCount } from '../format-text.ts'
import { type AlignedRow, span } from './line.ts'

/** The first rows, and the number of the hidden ones. */
export function truncateRowsAfter(rows: readonly AlignedRow[], maxRows: number): readonly AlignedRow[] {
  if (rows.length <= maxRows) return rows
  const hiddenCount = rows.length - maxRows + 1
  return maxRows <= 0 ? [] : [...rows.slice(0, maxRows - 1), buildNoteRow(`· … and ${hiddenCount} more`)]
}

/** The last rows, after the number of the hidden ones. */
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
