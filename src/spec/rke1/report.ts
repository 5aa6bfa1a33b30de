import type { Position } from '../../contract/finding.ts'

/**
 * What became of a key: mapped to a key of ours, not needed, left to a person to decide, or not a key of
 * RKE1.
 */
export const keyVerdicts = ['mapped', 'dropped', 'unsupported', 'unknown'] as const
export type KeyVerdict = (typeof keyVerdicts)[number]

export type KeyResult =
  | { readonly verdict: 'mapped'; readonly to: string; readonly note?: string }
  | { readonly verdict: Exclude<KeyVerdict, 'mapped'>; readonly note: string }

/** One key of an RKE1 file, including its children, and what became of it. Never contains the value. */
export type KeyReport = KeyResult & { readonly path: string; readonly position: Position }

/**
 * One line for a terminal: file:line:column path -> result. Line breaks in a key are replaced, so the result
 * is always one line.
 */
export function formatKeyReport(key: KeyReport): string {
  const { file, line, column } = key.position
  return `${file}:${line}:${column} ${key.path} -> ${formatKeyResult(key)}`.replaceAll(/[\r\n]/g, '␤')
}

function formatKeyResult(result: KeyResult): string {
  if (result.verdict !== 'mapped') return result.note
  return result.note === undefined ? result.to : `${result.to} (${result.note})`
}

export function countVerdicts(report: readonly KeyReport[]): Readonly<Record<KeyVerdict, number>> {
  const count = (verdict: KeyVerdict) => report.filter((key) => key.verdict === verdict).length
  return {
    mapped: count('mapped'),
    dropped: count('dropped'),
    unsupported: count('unsupported'),
    unknown: count('unknown'),
  }
}
