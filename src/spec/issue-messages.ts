import type { z } from 'zod'
import { nearest } from '../kit/suggest.ts'
import type { Path } from './document.ts'

/** What a schema found wrong, in words for the person who wrote the file. */
export interface Words {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

export function wordsFor(issue: z.core.$ZodIssue): Words {
  if (issue.input === undefined) return { code: 'SPEC_MISSING', message: 'is missing' }
  switch (issue.code) {
    case 'invalid_value':
      return {
        code: 'SPEC_WRONG_VALUE',
        message: ours(issue.message) ?? `must be ${listed(issue.values.map(String))}`,
        ...(typeof issue.input === 'string' ? guess(issue.input, issue.values.map(String)) : {}),
      }
    case 'invalid_type':
      return wrongType(issue)
    default:
      return { code: 'SPEC_WRONG_VALUE', message: ours(issue.message) ?? 'is not a value that fits here' }
  }
}

/** `known` are the settings of the map that the key stands in. */
export function wordsForUnknownKey(key: string, known: readonly string[]): Words {
  return { code: 'SPEC_UNKNOWN_KEY', message: `there is no setting "${key}" here`, ...guess(key, known) }
}

function wrongType(issue: z.core.$ZodIssueInvalidType): Words {
  const message = ours(issue.message) ?? `must be ${article(issue.expected)}, not ${kindOf(issue.input)}`
  return { code: 'SPEC_WRONG_TYPE', message }
}

/** A message of our schemas begins in lower case; zod's own do not, and are put into our words. */
function ours(message: string): string | undefined {
  return /^[a-z]/.test(message) ? message : undefined
}

function guess(word: string, known: readonly string[]): { hint?: string } {
  const meant = nearest(word, known)
  return meant === undefined ? {} : { hint: `did you mean ${meant}?` }
}

export function listed(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
}

function article(type: string): string {
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

function kindOf(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'string' ? 'text' : article(typeof value)
}

/** A path as a person would write it: spec.hosts[2].address. */
export function pathText(path: Path): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}
