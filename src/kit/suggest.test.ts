import { expect, test } from 'vitest'
import { suggestWord } from './suggest.ts'

const known = ['address', 'roles', 'internalAddress', 'control-plane', 'worker']

test.each([
  ['adress', 'address'],
  ['addres', 'address'],
  ['Address', 'address'],
  ['rolse', 'roles'],
  ['controlplane', 'control-plane'],
  ['workers', 'worker'],
])('%s stands for %s', (word, meant) => {
  expect(suggestWord(word, known)).toBe(meant)
})

test.each(['kubernetes', '', 'x', 'master'])('%s stands for none of them', (word) => {
  expect(suggestWord(word, known)).toBeUndefined()
})
