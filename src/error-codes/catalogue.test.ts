import { expect, test } from 'vitest'
import { errorCodeAreas } from './error-codes.ts'
import { symptoms } from './entry.ts'

const entries = errorCodeAreas.flatMap((area) => Object.entries(area.entries))

test('each error code has exactly one catalogue entry', () => {
  const codes = entries.map(([code]) => code)
  expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([])
})

test.each(entries)(
  'the summary, meaning and remedy of %s are complete sentences',
  (code, { summary, meaning, remedy }) => {
    expect(code).toMatch(/^[A-Z][A-Z0-9_]*$/)
    for (const text of [summary, meaning ?? summary, remedy]) {
      expect(text).toMatch(/^[`\p{L}~][^\n]*\.$/u)
      expect(text.split('`').length % 2, 'backquotes come in pairs').toBe(1)
      expect(text, 'typographic apostrophes, as elsewhere').not.toContain("'")
    }
  },
)

test.each(symptoms)('the symptom %s leads to at least one error code', (id) => {
  expect(entries.filter(([, entry]) => entry.symptoms?.some((one) => one === id))).not.toEqual([])
})
