import { expect, test } from 'vitest'
import { span, toPlainText } from './line.ts'
import { truncateRowsAfter, truncateRowsBefore } from './truncate-rows.ts'

test('rows are built only for the visible steps of 5,000 steps', () => {
  const steps = Array.from({ length: 5000 }, (_, index) => index + 1)
  const built: number[] = []
  const toRow = (step: number) => {
    built.push(step)
    return { left: [span(`step ${step}`)], right: '' }
  }
  const before = truncateRowsBefore(steps, 3, toRow).map(({ left }) => toPlainText(left))
  const after = truncateRowsAfter(steps, 3, toRow).map(({ left }) => toPlainText(left))
  expect(before).toEqual(['✓ 4998 steps', 'step 4999', 'step 5000'])
  expect(after).toEqual(['step 1', 'step 2', '· … and 4998 more'])
  expect(built).toEqual([4999, 5000, 1, 2])
})
