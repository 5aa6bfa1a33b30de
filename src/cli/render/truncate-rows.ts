import { count } from '../format-text.ts'
import { type Row, span } from './line.ts'

/** The first ones of what is to come, and how many more there are. */
export function shortened(rows: readonly Row[], most: number): readonly Row[] {
  if (rows.length <= most) return rows
  const hidden = rows.length - most + 1
  return most <= 0 ? [] : [...rows.slice(0, most - 1), note(`· … and ${hidden} more`)]
}

/** The last ones of what was, and how many there were before. */
export function shortenedBefore(rows: readonly Row[], most: number): readonly Row[] {
  if (rows.length <= most) return rows
  const hidden = rows.length - most + 1
  return most <= 0 ? [] : [note(`✓ ${count(hidden, 'step')}`), ...rows.slice(hidden)]
}

function note(text: string): Row {
  return { left: [span(text, 'dim')], right: '' }
}
