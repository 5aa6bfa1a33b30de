import type { z } from 'zod'
import type { Position } from '../../contract/finding.ts'
import type { Path } from '../document.ts'
import { describeIssue, formatPath } from '../issue-messages.ts'
import type { Rke1Facts } from './facts.ts'

/** A value and its path in hyperkube's cluster.yml. */
export interface Assignment {
  readonly path: Path
  readonly value: unknown
}

/** The key of an RKE1 file that a rule is applied to. */
export interface RuleInput {
  readonly value: unknown
  readonly path: Path
  /** Parts of the path that match the wildcards of the pattern. */
  readonly captures: Path
  readonly facts: Rke1Facts
}

export interface RuleResult {
  readonly result: KeyResult
  readonly assignments: readonly Assignment[]
}

export type KeyRule = (input: RuleInput) => RuleResult

/** Maps the pattern of a path in the RKE1 file to the rule for that path. */
export type RuleTable = Readonly<Record<string, KeyRule>>

/** Keys whose values are secret and therefore never copied. */
export const secretNames: ReadonlySet<string> = new Set([
  'password',
  'ssh_key',
  'secret_key',
  'access_key',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
])

export function dropKey(note: string): RuleResult {
  return { result: { verdict: 'dropped', note }, assignments: [] }
}

export function refuseKey(note: string, assignments: readonly Assignment[] = []): RuleResult {
  return { result: { verdict: 'unsupported', note }, assignments }
}

export function mapKey(path: Path, value: unknown, note?: string): RuleResult {
  const keyResult: KeyResult = {
    verdict: 'mapped',
    to: formatPath(path),
    ...(note === undefined ? {} : { note }),
  }
  return { result: keyResult, assignments: [{ path, value }] }
}

export function dropRule(note: string): KeyRule {
  return () => dropKey(note)
}

/**
 * Builds a rule for an unsupported setting. A setting with the value false is dropped, because the feature is
 * off anyway.
 */
export function unsupportedRule(note: string): KeyRule {
  return ({ value }) => (value === false ? dropKey('off in both') : refuseKey(note))
}

/**
 * Builds a rule that copies a value to a path of hyperkube's cluster.yml, if the schema accepts the value.
 */
export function mapRule(to: string, schema: z.ZodType): KeyRule {
  const pattern = parsePattern(to)
  return ({ value, captures }) =>
    parseValue(schema, value, (parsedValue) => mapKey(fillWildcards(pattern, captures), parsedValue))
}

/** Calls `then` with the parsed value, or refuses the key with the schema's error message. */
export function parseValue<T>(
  schema: z.ZodType<T>,
  value: unknown,
  then: (parsedValue: T) => RuleResult,
): RuleResult {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return then(result.data)
  const [issue] = result.error.issues
  const message = issue === undefined ? 'is not a valid value' : describeIssue(issue).message
  return refuseKey(`${message}; write it by hand`)
}

/** Builds a table with the same rule for several keys of one map. */
export function forKeys(prefix: string, names: readonly string[], rule: KeyRule): RuleTable {
  return Object.fromEntries(names.map((name) => [`${prefix}${name}`, rule]))
}

/**
 * A path with wildcards, for example `nodes[].labels.*`. `[]` matches any item of a list, `*` any key of a
 * map.
 */
export type Pattern = readonly string[]

export function parsePattern(text: string): Pattern {
  return text.replaceAll('[]', '.[]').split('.')
}

export function isWildcard(segment: string): boolean {
  return segment === '[]' || segment === '*'
}

export function matchesSegment(segment: string, part: string | number): boolean {
  if (typeof part === 'number') return segment === '[]'
  return segment === '*' || segment === part
}

/** Returns the parts of a path that match the wildcards of the pattern. */
export function captureWildcards(pattern: Pattern, path: Path): Path {
  return path.filter((_, index) => isWildcard(pattern[index] ?? ''))
}

/** Replaces the wildcards of a pattern by the captured parts, in order. */
function fillWildcards(pattern: Pattern, captures: Path): Path {
  const remaining = [...captures]
  return pattern.map((segment) => (isWildcard(segment) ? (remaining.shift() ?? segment) : segment))
}

/**
 * What happened to a key. `mapped`: converted. `dropped`: not needed. `unsupported`: a person must decide.
 * `unknown`: RKE1 has no such key.
 */
export const keyVerdicts = ['mapped', 'dropped', 'unsupported', 'unknown'] as const
export type KeyVerdict = (typeof keyVerdicts)[number]

type KeyResult =
  | { readonly verdict: 'mapped'; readonly to: string; readonly note?: string }
  | { readonly verdict: Exclude<KeyVerdict, 'mapped'>; readonly note: string }

/**
 * Result of one key of an RKE1 file, including its children. It never contains the value, which may be
 * secret.
 */
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
