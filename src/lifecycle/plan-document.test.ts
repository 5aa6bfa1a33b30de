import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readVersioned } from '../contract/versioned.ts'
import { planFormat } from './plan-document.ts'

/** Plan document of the first release. Every later release must be able to read it. */
const golden: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'testdata/plan.v1.json'), 'utf8'))

test('a plan that was kept keeps being read, to the last field', () => {
  expect(readVersioned(planFormat, golden)).toEqual(golden)
})
