import { expect, test } from 'vitest'
import { readCommittedReference, references } from './reference.ts'

test.each(Object.entries(references))('docs/%s is what npm run reference generates', async (file, text) => {
  expect(await readCommittedReference(file)).toBe(await text())
})
