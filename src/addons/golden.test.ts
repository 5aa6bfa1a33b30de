import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Format, readVersioned } from '../contract/versioned.ts'
import { differenceFormat } from './addon-difference.ts'
import { inventoryDocument, inventoryFormat, inventoryOf, inventoryText } from './inventory.ts'

function golden(file: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', file), 'utf8'))
}

/** As the first release wrote them, and as every later one must read them. */
const goldens: readonly (readonly [file: string, format: Format<unknown>])[] = [
  ['inventory.v1.json', inventoryFormat],
  ['difference.v1.json', differenceFormat],
]

describe.each(goldens)('%s', (file, format) => {
  test('keeps being read, to the last field', () => {
    expect(readVersioned(format, golden(file))).toEqual(golden(file))
  })

  test('with a field that nobody knows is refused', () => {
    const strange = { ...z.looseObject({}).parse(golden(file)), strange: 1 }
    expect(() => readVersioned(format, strange)).toThrow('strange')
  })
})

test('an inventory is the same text, in whatever order its entries come', () => {
  const document = readVersioned(inventoryFormat, golden('inventory.v1.json'))
  const { addon, entries } = inventoryOf(document)
  expect(entries).toHaveLength(4)
  expect(inventoryDocument({ addon, entries: entries.toReversed() })).toEqual(document)
})

/** With names as long as the API takes them. */
function longest(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: `${'g'.repeat(63)}.example.org/v1`,
    kind: `Kind${index % 100}`,
    namespace: 'n'.repeat(63),
    name: String(index).padStart(253, 'x'),
    uid: '0d9e1a0c-4c49-4a65-a6fb-5f8dd0d6a6c0',
  }))
}

test('a thousand objects with the longest names fit; what does not fit is refused', () => {
  expect(inventoryText({ addon: 'a', entries: longest(1000) }).length).toBeLessThan(500_000)
  expect(() => inventoryText({ addon: 'a', entries: longest(3000) })).toThrow(
    /the list of its 3000 objects takes \d+ bytes; at most 1000000 fit/,
  )
})
