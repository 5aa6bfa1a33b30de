import { expect, test } from 'vitest'
import { committedReference, references } from './reference.ts'

test.each(Object.entries(references))('docs/%s is what npm run reference makes', async (file, text) => {
  expect(await committedReference(file)).toBe(text())
})
