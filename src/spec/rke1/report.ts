import type { Position } from '../../contract/finding.ts'

/**
 * What happened to a key. `mapped`: converted. `dropped`: not needed. `unsupported`: a person must decide.
 * `unknown`: RKE1 has no such key.
 */
export const keyVerdicts = ['mapped', 'dropped', 'unsupported', 'unknown'] as const
export type KeyVerdict = (typeof keyVerdicts)[number]

export type KeyResult =
  | { readonly verdict: 'mapped'; readonly to: string; readonly note?: string }
  | { readonly verdict: Exclude<KeyVerdict, 'mapped'>; readonly note: string }

/** Result of one key of an RKE1 file, including its children. It never contains the value. */
export type KeyReport = KeyResult & { readonly path: string; readonly position: Position }

/**
 * Formats the result of a key as one line: file:line:column path -> result. Line breaks in a key are
 * replaced.
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
