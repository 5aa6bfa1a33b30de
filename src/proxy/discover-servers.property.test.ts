import { array, assert, constantFrom, property } from 'fast-check'
import { expect, test } from 'vitest'
import { mergeMembers, sameMembers } from './discover-servers.ts'

const lists = array(constantFrom('a:1', 'b:1', 'c:1', 'd:1'))

test('merged members contain all configured and discovered servers without duplicates', () => {
  assert(
    property(lists, lists, (configured, learned) => {
      const all = mergeMembers(configured, learned)
      expect(all).toEqual(expect.arrayContaining([...configured, ...learned]))
      expect(new Set(all).size).toBe(all.length)
    }),
  )
})

test('without discovered servers, the configured servers keep their order', () => {
  expect(mergeMembers(['b:1', 'a:1'], [])).toEqual(['b:1', 'a:1'])
})

test('member lists are equal if they differ only in order and duplicates', () => {
  expect(sameMembers(['a:1', 'b:1'], ['b:1', 'a:1', 'a:1'])).toBe(true)
  expect(sameMembers(['a:1'], ['a:1', 'b:1'])).toBe(false)
})
