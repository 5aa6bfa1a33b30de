import { type Arbitrary, array, constantFrom, nat, record } from 'fast-check'

/** A value as JSON.parse returns it. */
type Json = unknown
type Path = readonly string[]

/**
 * JSON texts of unusual values that a parser may not expect. They are texts, because JSON.parse makes
 * `__proto__` an own key and an object literal does not.
 */
const strangeValues: readonly string[] = [
  'null',
  'true',
  '-1',
  '1e308',
  '0.5',
  '9007199254740993',
  '""',
  String.raw`"\u0000"`,
  '"../../etc/passwd"',
  '"https://["',
  `"${'a'.repeat(100_000)}"`,
  String.raw`"\ud800"`,
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":1,"valueOf":null}',
  '{"length":1e9}',
  // This nesting is too deep for the stack of a recursive reader.
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
]
const strangeKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '',
  'kind',
  'apiVersion',
  '0',
  'length',
  'then',
]

interface Change {
  readonly at: number
  readonly how: 'replace' | 'remove' | 'add' | 'repeat'
  /** Index in `strangeValues`. */
  readonly value: number
  readonly key: string
}

/** Replaced, removed, added and repeated values at any depth of a document. */
export type DocumentMutation = readonly Change[]

export const documentMutation: Arbitrary<DocumentMutation> = array(
  record({
    at: nat(1_000_000),
    how: constantFrom('replace', 'replace', 'remove', 'add', 'repeat'),
    value: nat(strangeValues.length - 1),
    key: constantFrom(...strangeKeys),
  }),
  { minLength: 1, maxLength: 3 },
)

/** Returns a changed copy of a JSON document. */
export function mutateDocument(document: Json, mutation: DocumentMutation): Json {
  return mutation.reduce(applyChange, structuredClone(document))
}

function applyChange(document: Json, { at, how, key, ...change }: Change): Json {
  const value: Json = JSON.parse(strangeValues[change.value] ?? 'null')
  const paths = listPaths(document)
  const path = paths[at % paths.length] ?? []
  const last = path.at(-1)
  if (last === undefined) return how === 'replace' ? value : addValue(document, key, value)
  const parent = path.slice(0, -1).reduce(getValue, document)
  if (how === 'remove') Reflect.deleteProperty(Object(parent), last)
  else if (how === 'add') addValue(getValue(parent, last), key, value)
  else if (how === 'repeat') addValue(parent, key, getValue(parent, last))
  else setOwn(Object(parent), last, value)
  return document
}

/**
 * Lists the paths of all values except deeply nested ones, because one of `strangeValues` has 20,000 levels.
 */
function listPaths(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || path.length > 12) return [path]
  return [path, ...Object.keys(value).flatMap((key) => listPaths(getValue(value, key), [...path, key]))]
}

function getValue(parent: Json, key: string): Json {
  return Object.getOwnPropertyDescriptor(Object(parent), key)?.value
}

function addValue(parent: Json, key: string, value: Json): Json {
  if (Array.isArray(parent)) parent.push(value)
  else if (typeof parent === 'object' && parent !== null) setOwn(parent, key, value)
  return parent
}

/** Defines an own property, also for `__proto__`. */
function setOwn(parent: object, key: string, value: Json): void {
  if (Array.isArray(parent) && key === 'length') return
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })
}
