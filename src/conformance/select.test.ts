import { array, assert, constantFrom, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { planBatches } from './select.ts'

test('one process runs all tests in order', () => {
  expect(planBatches(['a', 'b [Serial]', 'c'], 1)).toEqual([[['a', 'b [Serial]', 'c']]])
})

test('several processes share the tests, and serial tests run alone at the end', () => {
  expect(planBatches(['a', 'b [Serial]', 'c', 'd', 'e [Disruptive]'], 2)).toEqual([
    [['a', 'd'], ['c']],
    [['b [Serial]', 'e [Disruptive]']],
  ])
  expect(planBatches(['a [Serial]'], 4)).toEqual([[['a [Serial]']]])
  expect(planBatches(['a'], 4)).toEqual([[['a']]])
})

test('each test runs once, and no test runs at the same time as a serial test', () => {
  const names = array(constantFrom('', ' [Serial]'), { minLength: 1, maxLength: 40 }).map((all) =>
    all.map((label, index) => `${index}${label}`),
  )
  assert(
    property(names, integer({ min: 1, max: 9 }), (chosen, parallel) => {
      const batches = planBatches(chosen, parallel)
      expect(batches.flat(2).toSorted()).toEqual(chosen.toSorted())
      for (const batch of batches) {
        expect(batch.length === 1 || batch.flat().every((name) => !name.includes('Serial'))).toBe(true)
      }
    }),
  )
})
