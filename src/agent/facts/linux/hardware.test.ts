import { expect, test } from 'vitest'
import { countCpus, parseMemory } from './hardware.ts'

test.each([
  ['0\n', 1],
  ['0-1\n', 2],
  ['0-3,8-11,13\n', 9],
])('%j are %i processors', (text, count) => {
  expect(countCpus(text)).toBe(count)
})

test('memory is all that the kernel has', () => {
  expect(parseMemory('MemTotal:       24682416 kB\nMemFree:        17089540 kB\n')).toBe(25_274_793_984)
})
