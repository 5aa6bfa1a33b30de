import { assert, jsonValue, property } from 'fast-check'
import { expect, test } from 'vitest'
import { toAsciiJson } from './ascii.ts'

test('says the same, in ASCII', () => {
  assert(
    property(jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = toAsciiJson(JSON.stringify(value))
      expect(text).not.toMatch(/[\u0080-\uffff]/)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
    { numRuns: 30 },
  )
})
