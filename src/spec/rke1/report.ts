import type { Position } from '../../contract/finding.ts'

/** What became of a key: it has a place with us, it needs none, a person must decide, or RKE1 had no such key. */
export const verdicts = ['mapped', 'dropped', 'unsupported', 'unknown'] as const
export type Verdict = (typeof verdicts)[number]

export type Told =
  | { readonly verdict: 'mapped'; readonly to: string; readonly note?: string }
  | { readonly verdict: Exclude<Verdict, 'mapped'>; readonly note: string }

/** One key of an RKE1 file, with all below it, and what became of it. It never holds the key's value. */
export type KeyReport = Told & { readonly path: string; readonly position: Position }

/** One line for a terminal: file:line:column path -> what became of it. A key with line ends stays one line. */
export function reportLine(key: KeyReport): string {
  const { file, line, column } = key.position
  return `${file}:${line}:${column} ${key.path} -> ${toldText(key)}`.replaceAll(/[\r\n]/g, '␤')
}

function toldText(told: Told): string {
  if (told.verdict !== 'mapped') return told.note
  return told.note === undefined ? told.to : `${told.to} (${told.note})`
}

export function countVerdicts(report: readonly KeyReport[]): Readonly<Record<Verdict, number>> {
  const count = (verdict: Verdict) => report.filter((key) => key.verdict === verdict).length
  return {
    mapped: count('mapped'),
    dropped: count('dropped'),
    unsupported: count('unsupported'),
    unknown: count('unknown'),
  }
}
