import { expect, test } from 'vitest'
import { decideAgent } from './agent-release.ts'

test.each([
  ['a host without an agent gets the current release', undefined, 'install'],
  ['an older agent is replaced', '0.3.9-aaaaaaaa', 'install'],
  ['a much older agent is replaced', '0.1.0-aaaaaaaa', 'install'],
  ['an agent of another build of the same version is replaced', '0.4.2-bbbbbbbb', 'install'],
  ['an agent without a version is replaced', 'by-hand', 'install'],
  ['an agent of a newer patch stays', '0.4.3-aaaaaaaa', 'keep'],
  ['an agent of the next minor stays', '0.5.7-aaaaaaaa', 'keep'],
  ['an agent two minors newer is refused', '0.6.0-aaaaaaaa', 'refuse'],
  ['an agent of another major is refused', '1.4.2-aaaaaaaa', 'refuse'],
])('%s', (_, found, decision) => {
  expect(decideAgent('0.4.2-aaaaaaaa', found)).toBe(decision)
})
