import type { z } from 'zod'
import { suggestWord } from '../kit/text.ts'
import type { Path } from './document.ts'

/** Code, message and hint that describe a schema issue to the author of the file. */
export interface IssueMessage {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

export function describeIssue(issue: z.core.$ZodIssue): IssueMessage {
  if (issue.input === undefined) return { code: 'SPEC_MISSING', message: 'is missing' }
  switch (issue.code) {
    case 'invalid_value':
      return {
        code: 'SPEC_WRONG_VALUE',
        message: ownMessage(issue.message) ?? `must be ${formatAlternatives(issue.values.map(String))}`,
        ...(typeof issue.input === 'string' ? suggestHint(issue.input, issue.values.map(String)) : {}),
      }
    case 'invalid_type':
      return wrongType(issue)
    default:
      return {
        code: 'SPEC_WRONG_VALUE',
        message: ownMessage(issue.message) ?? 'is not a valid value',
      }
  }
}

/** Describes a key that does not exist. `known` are the valid keys of the same map. */
export function describeUnknownKey(key: string, known: readonly string[]): IssueMessage {
  return {
    code: 'SPEC_UNKNOWN_KEY',
    message: `unknown setting "${key}"`,
    ...suggestHint(key, known),
  }
}

function wrongType(issue: z.core.$ZodIssueInvalidType): IssueMessage {
  const message =
    ownMessage(issue.message) ??
    `must be ${describeType(issue.expected)}, not ${describeValueType(issue.input)}`
  return { code: 'SPEC_WRONG_TYPE', message }
}

/**
 * Returns the message if hyperkube's schemas define it, and undefined otherwise. Messages of hyperkube begin
 * in lower case, messages of zod in upper case.
 */
function ownMessage(message: string): string | undefined {
  return /^[a-z]/.test(message) ? message : undefined
}

function suggestHint(word: string, known: readonly string[]): { hint?: string } {
  const suggestion = suggestWord(word, known)
  return suggestion === undefined ? {} : { hint: `did you mean ${suggestion}?` }
}

export function formatAlternatives(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
}

function describeType(type: string): string {
  const names: Readonly<Record<string, string>> = {
    string: 'text',
    int: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a map',
    record: 'a map',
  }
  return names[type] ?? type
}

function describeValueType(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'string' ? 'text' : describeType(typeof value)
}

/** Formats a path, for example as spec.hosts[2].address. */
export function formatPath(path: Path): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}
