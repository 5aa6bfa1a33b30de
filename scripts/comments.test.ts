import { expect, test } from 'vitest'
import { createRandom, drawSample, joinLines } from './comments.ts'

test('a sample is the same for the same seed, and has no duplicates', () => {
  const items = Array.from({ length: 100 }, (_, index) => index)
  const sample = drawSample(items, 20, createRandom(7))
  expect(sample).toEqual(drawSample(items, 20, createRandom(7)))
  expect(sample).not.toEqual(drawSample(items, 20, createRandom(8)))
  expect(new Set(sample).size).toBe(20)
  expect(drawSample(items, 1000, createRandom(7)).toSorted((a, b) => a - b)).toEqual(items)
})

test('comments on consecutive lines are joined', () => {
  const comment = (line: number, text: string) => ({ kind: 'comment' as const, line, text })
  expect(
    joinLines([comment(1, 'a'), comment(2, 'b'), comment(4, 'c\nd'), comment(6, 'e'), comment(8, 'f')]),
  ).toEqual([comment(1, 'a\nb'), comment(4, 'c\nd\ne'), comment(8, 'f')])
})
