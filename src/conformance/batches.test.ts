import { array, assert, constantFrom, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { roundsOf } from './batches.ts'

test('one process runs all of them in their order', () => {
  expect(roundsOf(['a', 'b [Serial]', 'c'], 1)).toEqual([[['a', 'b [Serial]', 'c']]])
})

test('several share them, and what has to run alone does so in the end', () => {
  expect(roundsOf(['a', 'b [Serial]', 'c', 'd', 'e [Disruptive]'], 2)).toEqual([
    [['a', 'd'], ['c']],
    [['b [Serial]', 'e [Disruptive]']],
  ])
  expect(roundsOf(['a [Serial]'], 4)).toEqual([[['a [Serial]']]])
  expect(roundsOf(['a'], 4)).toEqual([[['a']]])
})

test('each test runs once, and nothing runs beside what must run alone', () => {
  const names = array(constantFrom('', ' [Serial]'), { minLength: 1, maxLength: 40 }).map((all) =>
    all.map((label, index) => `${index}${label}`),
  )
  assert(
    property(names, integer({ min: 1, max: 9 }), (chosen, parallel) => {
      const rounds = roundsOf(chosen, parallel)
      expect(rounds.flat(2).toSorted()).toEqual(chosen.toSorted())
      for (const round of rounds) {
        expect(round.length === 1 || round.flat().every((name) => !name.includes('Serial'))).toBe(true)
      }
    }),
  )
})
