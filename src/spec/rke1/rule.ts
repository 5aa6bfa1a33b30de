import type { z } from 'zod'
import type { Path } from '../document.ts'
import { formatPath, describeIssue } from '../issue-messages.ts'
import type { Rke1Facts } from './facts.ts'
import { fillWildcards, parsePattern } from './pattern.ts'
import type { KeyResult } from './report.ts'

/** A value for our cluster.yml and the path to write it to. */
export interface Assignment {
  readonly path: Path
  readonly value: unknown
}

/** Input of a rule: one key of an RKE1 file. */
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

/** Keys whose values are never copied, wherever they occur. */
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

/** A setting that is switched off needs no decision. */
export function unsupportedRule(note: string): KeyRule {
  return ({ value }) => (value === false ? dropKey('is off, and so it is here') : refuseKey(note))
}

/** Maps a value to a path of our cluster.yml if the schema of that path accepts it. */
export function mapRule(to: string, schema: z.ZodType): KeyRule {
  const pattern = parsePattern(to)
  return ({ value, captures }) =>
    parseValue(schema, value, (parsedValue) => mapKey(fillWildcards(pattern, captures), parsedValue))
}

/** Calls `then` with the parsed value, or refuses the key with the message of the schema. */
export function parseValue<T>(
  schema: z.ZodType<T>,
  value: unknown,
  then: (parsedValue: T) => RuleResult,
): RuleResult {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return then(result.data)
  const [issue] = result.error.issues
  const message = issue === undefined ? 'is not a value that fits here' : describeIssue(issue).message
  return refuseKey(`${message}; write it by hand`)
}

/** Applies one rule to many keys of one map. */
export function forKeys(prefix: string, names: readonly string[], rule: KeyRule): RuleTable {
  return Object.fromEntries(names.map((name) => [`${prefix}${name}`, rule]))
}
