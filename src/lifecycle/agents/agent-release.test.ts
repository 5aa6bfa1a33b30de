import { expect, test } from 'vitest'
import { decideAgent } from './agent-release.ts'

test.each([
  ['a host without one gets ours', undefined, 'install'],
  ['an older one is replaced', '0.3.9-aaaaaaaa', 'install'],
  ['a very old one is replaced', '0.1.0-aaaaaaaa', 'install'],
  ['another build of the same version is replaced', '0.4.2-bbbbbbbb', 'install'],
  ['what has no version is replaced', 'by-hand', 'install'],
  ['a newer patch stays', '0.4.3-aaaaaaaa', 'keep'],
  ['the next minor stays', '0.5.7-aaaaaaaa', 'keep'],
  ['the minor after that is not understood', '0.6.0-aaaaaaaa', 'refuse'],
  ['nor is another major', '1.4.2-aaaaaaaa', 'refuse'],
])('%s', (_, found, decision) => {
  expect(decideAgent('0.4.2-aaaaaaaa', found)).toBe(decision)
})
