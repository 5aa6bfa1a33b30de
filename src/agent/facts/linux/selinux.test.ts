import { expect, test } from 'vitest'
import { parseEnforce } from './selinux.ts'

test.each([
  [undefined, 'disabled'],
  ['0', 'permissive'],
  ['1', 'enforcing'],
])('%j is %s', (text, state) => {
  expect(parseEnforce(text)).toBe(state)
})
