import { formatCount } from '../../kit/text.ts'
import { type AlignedRow, span } from './line.ts'

/**
 * Builds rows for the first items, and a row with the number of hidden items. No rows are built for hidden
 * items, because there may be thousands.
 */
export function truncateRowsAfter<T>(
  items: readonly T[],
  maxRows: number,
  toRow: (item: T) => AlignedRow,
): readonly AlignedRow[] {
  if (items.length <= maxRows) return items.map(toRow)
  const hiddenCount = items.length - maxRows + 1
  return maxRows <= 0
    ? []
    : [...items.slice(0, maxRows - 1).map(toRow), buildNoteRow(`· … and ${hiddenCount} more`)]
}

/** Builds rows for the last items, and before them a row with the number of hidden items. */
export function truncateRowsBefore<T>(
  items: readonly T[],
  maxRows: number,
  toRow: (item: T) => AlignedRow,
): readonly AlignedRow[] {
  if (items.length <= maxRows) return items.map(toRow)
  const hiddenCount = items.length - maxRows + 1
  return maxRows <= 0
    ? []
    : [buildNoteRow(`✓ ${formatCount(hiddenCount, 'step')}`), ...items.slice(hiddenCount).map(toRow)]
}

function buildNoteRow(text: string): AlignedRow {
  return { left: [span(text, 'dim')], right: '' }
}
