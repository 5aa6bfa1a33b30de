import { assert, jsonValue, property } from 'fast-check'
import { expect, test } from 'vitest'
import { asciiJson } from './ascii.ts'

test('says the same, in ASCII', () => {
  assert(
    property(jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = asciiJson(JSON.stringify(value))
      expect(text).not.toMatch(/[\u0080-\uffff]/)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
    { numRuns: 30 },
  )
})
