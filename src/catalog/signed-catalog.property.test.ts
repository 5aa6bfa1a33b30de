import { readFileSync } from 'node:fs'
import { assert, constantFrom, integer, nat, property } from 'fast-check'
import { expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import { documentMutation, mutateDocument } from '../kit/testing/document-mutations.ts'
import { byteMutation, mutationRuns, printMutations } from '../kit/testing/mutations.ts'
import { signContent } from '../kit/signature.ts'
import { readSignedCatalog } from './signed-catalog.ts'
import {
  buildTestCatalog,
  signTestCatalog,
  testCatalogKey,
  testCatalogPublicKey,
} from './testing/test-catalog.ts'

const text = signTestCatalog()
const bytes = Buffer.from(text)
/** A catalog with few flags, so that many changes can be tried. */
const golden = readFileSync(new URL('testdata/v1.catalog', import.meta.url), 'utf8')
const small: unknown = JSON.parse(golden.slice(golden.indexOf('\n')))
const headerEnd = text.indexOf('\n') + 1

function readOutcome(signed: string): string {
  try {
    readSignedCatalog('cluster.catalog', signed, [testCatalogPublicKey])
    return 'read'
  } catch (error) {
    return error instanceof HyperkubeError ? error.code : String(error)
  }
}

/**
 * Formats a value as JSON. Returns undefined if the nesting is too deep for JSON.stringify. The last test of
 * this file covers deeper nesting, because it builds its JSON without JSON.stringify.
 */
function formatJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Signs any text, also one that is not a catalog, as a signer with a trusted key could. */
function signAnything(content: string): string {
  const signature = signContent(Buffer.from(content), testCatalogKey).toString('base64')
  return `hyperkube.dev/v1 SignedCatalog ed25519 ${testCatalogPublicKey} ${signature}\n${content}`
}

test('no byte of a signed catalog can be changed', { timeout: 120_000 }, () => {
  expect(readOutcome(text)).toBe('read')
  // Half of the changes are in the short first line, which the signature does not cover.
  const position = constantFrom(headerEnd, bytes.length).chain((end) => nat(end - 1))
  assert(
    property(position, integer({ min: 1, max: 255 }), (at, difference) => {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ difference
      expect(readOutcome(changed.toString())).toBe('CATALOG_NOT_TRUSTED')
    }),
    mutationRuns,
  )
})

test('a mutated catalog is refused', { timeout: 120_000 }, () => {
  const outcomes = new Map<string, number>()
  assert(
    property(byteMutation, (mutate) => {
      const mutated = mutate(bytes)
      if (mutated.equals(bytes)) return
      const outcome = readOutcome(mutated.toString())
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      expect(outcome).toMatch(/^CATALOG_NOT_(TRUSTED|VALID)$/)
    }),
    mutationRuns,
  )
  printMutations('cluster.catalog', outcomes)
})

test('hostile content is read or refused, also with a valid signature', { timeout: 120_000 }, () => {
  const outcomes = new Map<string, number>()
  assert(
    property(documentMutation, (mutation) => {
      const content = formatJson(mutateDocument(small, mutation))
      if (content === undefined) return
      const outcome = readOutcome(signAnything(content))
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      expect(outcome).toMatch(/^(read|CATALOG_NOT_VALID)$/)
      expect(Reflect.get({}, 'polluted')).toBeUndefined()
    }),
    mutationRuns,
  )
  printMutations('signed content', outcomes)
  expect(outcomes.size).toBe(2)
})

test.each([
  ['deep lists', `${'['.repeat(900_000)}${']'.repeat(900_000)}`],
  ['deep maps', `${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`],
  ['many keys', `{${Array.from({ length: 150_000 }, (_, at) => `"k${at}":1`).join()}}`],
  ['many lists', `[${'[],'.repeat(600_000)}[]]`],
  ['a prototype', JSON.stringify(buildTestCatalog()).replace('{', '{"__proto__":{"polluted":true},')],
  [
    'a deep prototype',
    JSON.stringify(buildTestCatalog()).replace('"images":{', '"images":{"__proto__":"a/b:1",'),
  ],
])('%s with a valid signature are refused in under 5 s', (_, content) => {
  const signed = signAnything(content)
  const start = process.cpuUsage()
  expect(readOutcome(signed)).toBe('CATALOG_NOT_VALID')
  expect(process.cpuUsage(start).user / 1e6).toBeLessThan(5)
})
