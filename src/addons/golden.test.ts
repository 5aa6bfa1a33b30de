import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Format, readVersioned } from '../contract/versioned.ts'
import { differenceFormat } from './addon-difference.ts'
import { toInventoryDocument, inventoryFormat, toInventory, serializeInventory } from './inventory.ts'

function readGolden(file: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', file), 'utf8'))
}

/** Files in the format of the first release. Every later release must be able to read them. */
const goldens: readonly (readonly [file: string, format: Format<unknown>])[] = [
  ['inventory.v1.json', inventoryFormat],
  ['difference.v1.json', differenceFormat],
]

describe.each(goldens)('%s', (file, format) => {
  test('is read without loss of a field', () => {
    expect(readVersioned(format, readGolden(file))).toEqual(readGolden(file))
  })

  test('is refused with an unknown field', () => {
    const withUnknownField = { ...z.looseObject({}).parse(readGolden(file)), strange: 1 }
    expect(() => readVersioned(format, withUnknownField)).toThrow('strange')
  })
})

test('the inventory document does not depend on the order of entries', () => {
  const document = readVersioned(inventoryFormat, readGolden('inventory.v1.json'))
  const { addon, entries } = toInventory(document)
  expect(entries).toHaveLength(4)
  expect(toInventoryDocument({ addon, entries: entries.toReversed() })).toEqual(document)
})

/** Builds entries with the longest names that the API accepts. */
function buildLongestEntries(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: `${'g'.repeat(63)}.example.org/v1`,
    kind: `Kind${index % 100}`,
    namespace: 'n'.repeat(63),
    name: String(index).padStart(253, 'x'),
    uid: '0d9e1a0c-4c49-4a65-a6fb-5f8dd0d6a6c0',
  }))
}

test('an inventory of 1000 objects with the longest names fits, and 3000 objects are refused', () => {
  expect(serializeInventory({ addon: 'a', entries: buildLongestEntries(1000) }).length).toBeLessThan(500_000)
  expect(() => serializeInventory({ addon: 'a', entries: buildLongestEntries(3000) })).toThrow(
    /the list of its 3000 objects has \d+ bytes; the limit is 1000000/,
  )
})
