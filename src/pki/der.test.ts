import { expect, test } from 'vitest'
import { isStrictRequestDer } from './der.ts'

test.each([
  ['an integer in a sequence', '3003020100'],
  ['an empty sequence', '3000'],
  ['a long length', `308180${'0500'.repeat(64)}`],
  ['an encoded extension', '04053003020100'],
  ['a host name', '300482027731'],
])('%s is accepted as strict DER', (_, hex) => {
  expect(isStrictRequestDer(Buffer.from(hex, 'hex'))).toBe(true)
})

test.each([
  ['a length that is too large', '3004020100'],
  ['bytes after the last element', '3003020100ff'],
  ['a length that could be shorter', '308103020100'],
  ['a sequence without the bit of a container', '1003020100'],
  ['another class', '7003020100'],
  ['a sequence with a tag of its own', 'b003020100'],
  ['a tag of several bytes', '3f0103020100'],
  ['an indefinite length', '30800201000000'],
  ['a text of 16-bit characters', '1e020041'],
  ['an octet string without elements', '0403ffffff'],
  ['too many levels', nest(20)],
])('%s is refused as strict DER', (_, hex) => {
  expect(isStrictRequestDer(Buffer.from(hex, 'hex'))).toBe(false)
})

function nest(levels: number): string {
  return Array.from({ length: levels }).reduce<string>(
    (inner) => `30${(inner.length / 2).toString(16).padStart(2, '0')}${inner}`,
    '',
  )
}
