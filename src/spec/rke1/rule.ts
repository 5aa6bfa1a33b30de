import type { z } from 'zod'
import type { Path } from '../document.ts'
import { pathText, wordsFor } from '../issue-messages.ts'
import type { Facts } from './facts.ts'
import { filled, patternOf } from './pattern.ts'
import type { Told } from './report.ts'

/** A value for our cluster.yml, and its place there. */
export interface Put {
  readonly path: Path
  readonly value: unknown
}

/** A key of an RKE1 file as a rule sees it. */
export interface Seen {
  readonly value: unknown
  readonly path: Path
  /** What stands in the path where the pattern has holes. */
  readonly holes: Path
  readonly facts: Facts
}

export interface Outcome {
  readonly told: Told
  readonly puts: readonly Put[]
}

export type Rule = (seen: Seen) => Outcome

/** Pattern of a path in the RKE1 file, and what becomes of what stands there. */
export type Table = Readonly<Record<string, Rule>>

/** Names of values that are written nowhere, wherever they stand. */
export const secretNames: ReadonlySet<string> = new Set([
  'password',
  'ssh_key',
  'secret_key',
  'access_key',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
])

export function drop(note: string): Outcome {
  return { told: { verdict: 'dropped', note }, puts: [] }
}

export function refuse(note: string, puts: readonly Put[] = []): Outcome {
  return { told: { verdict: 'unsupported', note }, puts }
}

export function take(path: Path, value: unknown, note?: string): Outcome {
  const told: Told = { verdict: 'mapped', to: pathText(path), ...(note === undefined ? {} : { note }) }
  return { told, puts: [{ path, value }] }
}

export function dropped(note: string): Rule {
  return () => drop(note)
}

/** What is switched off needs no decision. */
export function unsupported(note: string): Rule {
  return ({ value }) => (value === false ? drop('is off, and so it is here') : refuse(note))
}

/** To a place of ours, if the value is one that fits there. */
export function mapped(to: string, schema: z.ZodType): Rule {
  const pattern = patternOf(to)
  return ({ value, holes }) => parsed(schema, value, (fit) => take(filled(pattern, holes), fit))
}

/** Goes on with a value that fits, and says in a schema's own words why another does not. */
export function parsed<T>(schema: z.ZodType<T>, value: unknown, then: (fit: T) => Outcome): Outcome {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return then(result.data)
  const [issue] = result.error.issues
  const message = issue === undefined ? 'is not a value that fits here' : wordsFor(issue).message
  return refuse(`${message}; write it by hand`)
}

/** The same rule for many keys of one map. */
export function each(prefix: string, names: readonly string[], rule: Rule): Table {
  return Object.fromEntries(names.map((name) => [`${prefix}${name}`, rule]))
}
