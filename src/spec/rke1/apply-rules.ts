import type { Position } from '../../contract/finding.ts'
import { nearest } from '../../kit/suggest.ts'
import type { Path, ReadDocument } from '../document.ts'
import { pathText } from '../issue-messages.ts'
import type { Facts } from './facts.ts'
import { captures, fits, isHole, type Pattern } from './pattern.ts'
import type { KeyReport } from './report.ts'
import { drop, type Outcome, type Put, refuse, type Rule } from './rule.ts'

export interface Row {
  readonly pattern: Pattern
  readonly rule: Rule
}

export interface Walked {
  readonly report: readonly KeyReport[]
  readonly puts: readonly Put[]
}

/** Asks the first rule that fits about every key, from the outside in; what a rule answers for is not entered. */
export function walk(document: ReadDocument, facts: Facts, rows: readonly Row[]): Walked {
  const answers: { readonly path: Path; readonly outcome: Outcome }[] = []
  const enter = (path: Path, value: unknown, open: readonly Row[]): void => {
    for (const [part, child] of children(value)) {
      const inner = [...path, part]
      const fitting = open.filter(({ pattern }) => fits(pattern[path.length] ?? '', part))
      const row = mostExact(fitting, inner.length)
      const outcome = answer(inner, child, fitting, row, open, facts)
      if (outcome === undefined) enter(inner, child, fitting)
      else answers.push({ path: inner, outcome })
    }
  }
  enter([], document.value, rows)
  return {
    report: answers.map(({ path, outcome }) => ({
      ...outcome.told,
      path: pathText(path),
      position: positionOf(document, path),
    })),
    puts: answers.flatMap(({ outcome }) => outcome.puts),
  }
}

/** What is said about a key, or nothing when its own keys must be asked. */
function answer(
  path: Path,
  value: unknown,
  fitting: readonly Row[],
  row: Row | undefined,
  open: readonly Row[],
  facts: Facts,
): Outcome | undefined {
  const [sample] = fitting
  if (sample === undefined) return unheardOf(path, open)
  if (isEmpty(value) && sample.pattern[path.length - 1] !== '*') return drop('is empty')
  if (row !== undefined) return row.rule({ value, path, holes: captures(row.pattern, path), facts })
  const list = sample.pattern[path.length] === '[]'
  if (list !== Array.isArray(value) || typeof value !== 'object') {
    return refuse(`must be ${list ? 'a list' : 'a map'}, for RKE1 too; write it by hand`)
  }
  return undefined
}

function unheardOf(path: Path, open: readonly Row[]): Outcome {
  const key = String(path.at(-1))
  if (key === '<<') return refuse('YAML merges are not read; write out what it merges, and run this again')
  const known = open.map(({ pattern }) => pattern[path.length - 1] ?? '').filter((name) => !isHole(name))
  const meant = nearest(key, known)
  const guess = meant === undefined ? '' : `; did you mean ${meant}?`
  return { told: { verdict: 'unknown', note: `RKE1 has no such key and ignored it${guess}` }, puts: [] }
}

function mostExact(fitting: readonly Row[], length: number): Row | undefined {
  const whole = fitting.filter(({ pattern }) => pattern.length === length)
  return whole.find(({ pattern }) => !isHole(pattern.at(-1) ?? '')) ?? whole[0]
}

function children(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return value.map((item: unknown, index) => [index, item])
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

/** `rke config` writes every key it knows, most of them empty. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function positionOf(document: ReadDocument, path: Path): Position {
  const last = path.at(-1)
  return typeof last === 'string'
    ? document.positionOfKey(path.slice(0, -1), last)
    : document.positionOf(path)
}
