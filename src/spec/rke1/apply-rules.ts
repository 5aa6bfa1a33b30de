import type { Position } from '../../contract/finding.ts'
import { suggestWord } from '../../kit/text.ts'
import type { LocatedDocument, Path } from '../document.ts'
import { formatPath } from '../issue-messages.ts'
import type { Rke1Facts } from './facts.ts'
import {
  type Assignment,
  captureWildcards,
  dropKey,
  isWildcard,
  type KeyReport,
  type KeyRule,
  matchesSegment,
  type Pattern,
  refuseKey,
  type RuleResult,
} from './rule.ts'

export interface RuleRow {
  readonly pattern: Pattern
  readonly rule: KeyRule
}

export interface ApplyRulesResult {
  readonly report: readonly KeyReport[]
  readonly assignments: readonly Assignment[]
}

/**
 * Applies the first matching rule to each key, parents before children. Children of a key that a rule has
 * handled are not visited.
 */
export function applyRules(
  document: LocatedDocument,
  facts: Rke1Facts,
  rows: readonly RuleRow[],
): ApplyRulesResult {
  const outcomes: { readonly path: Path; readonly outcome: RuleResult }[] = []
  const visit = (path: Path, value: unknown, candidates: readonly RuleRow[]): void => {
    for (const [part, child] of children(value)) {
      const childPath = [...path, part]
      const matching = candidates.filter(({ pattern }) => matchesSegment(pattern[path.length] ?? '', part))
      const row = findMostSpecific(matching, childPath.length)
      const outcome = evaluateKey(childPath, child, matching, row, candidates, facts)
      if (outcome === undefined) visit(childPath, child, matching)
      else outcomes.push({ path: childPath, outcome })
    }
  }
  visit([], document.value, rows)
  return {
    report: outcomes.map(({ path, outcome }) => ({
      ...outcome.result,
      path: formatPath(path),
      position: findPosition(document, path),
    })),
    assignments: outcomes.flatMap(({ outcome }) => outcome.assignments),
  }
}

/** Returns the result for a key, or undefined if its children must be visited. */
function evaluateKey(
  path: Path,
  value: unknown,
  matching: readonly RuleRow[],
  row: RuleRow | undefined,
  candidates: readonly RuleRow[],
  facts: Rke1Facts,
): RuleResult | undefined {
  const [sample] = matching
  if (sample === undefined) return refuseUnknownKey(path, candidates)
  if (isEmpty(value) && sample.pattern[path.length - 1] !== '*') return dropKey('is empty')
  if (row !== undefined)
    return row.rule({ value, path, captures: captureWildcards(row.pattern, path), facts })
  const list = sample.pattern[path.length] === '[]'
  if (list !== Array.isArray(value) || typeof value !== 'object') {
    return refuseKey(`must be ${list ? 'a list' : 'a map'}, for RKE1 too; write it by hand`)
  }
  return undefined
}

function refuseUnknownKey(path: Path, candidates: readonly RuleRow[]): RuleResult {
  const key = String(path.at(-1))
  if (key === '<<')
    return refuseKey(
      'YAML merge keys are not supported; write out the merged values, then run the same command again',
    )
  const known = candidates
    .map(({ pattern }) => pattern[path.length - 1] ?? '')
    .filter((name) => !isWildcard(name))
  const suggestion = suggestWord(key, known)
  const guess = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
  return {
    result: { verdict: 'unknown', note: `RKE1 has no such key and ignored it${guess}` },
    assignments: [],
  }
}

function findMostSpecific(matching: readonly RuleRow[], length: number): RuleRow | undefined {
  const complete = matching.filter(({ pattern }) => pattern.length === length)
  return complete.find(({ pattern }) => !isWildcard(pattern.at(-1) ?? '')) ?? complete[0]
}

function children(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return value.map((item: unknown, index) => [index, item])
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

/**
 * True for empty values. Such keys are dropped, because `rke config` writes every key it knows, most of them
 * empty.
 */
function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function findPosition(document: LocatedDocument, path: Path): Position {
  const last = path.at(-1)
  return typeof last === 'string'
    ? document.positionOfKey(path.slice(0, -1), last)
    : document.positionOf(path)
}
